import type { CreateTenant, Static } from '@slipway/contracts'
import { conflict, encodeSqid, notFound } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../http/handler.ts'
import { isUniqueViolation } from '../http/problem-of.ts'
import { type Viewer, visibleTenants } from '../tenancy/visibility.ts'
import { answerPage, NEWEST_FIRST, nameContains } from './listing.ts'
import { inPrisma } from './outbox.ts'
import { recordKey } from './record-id.ts'
import { valueProblems } from './variable-rules.ts'
import { sealVariables, shownVariables } from './variables.ts'

interface TenantRow {
  id: string
  number: number
  name: string
  slug: string
  description: string | null
  variables_sealed: string | null
  created_at: Date
  updated_at: Date
}

export function tenantHandlers({
  database,
  keys,
}: Dependencies): HandlersOf<'listTenants' | 'createTenant' | 'getTenant'> {
  const { prisma } = database

  async function shown(viewer: Viewer, rows: TenantRow[]) {
    const variablesOf = await shownVariables({ db: database, keys, viewer }, 'tenant', rows)
    return rows.map((row) => {
      const { id, number, name, slug, description, created_at, updated_at } = row
      const sqid = encodeSqid('tenant', number)
      return { id, sqid, name, slug, description, variables: variablesOf(row), created_at, updated_at }
    })
  }

  /** The slug of a name, with the first number behind it that makes it free. */
  async function freeSlug(name: string): Promise<string> {
    const base = slugOf(name)
    const taken = await prisma.tenant.findMany({ where: { slug: { startsWith: base } }, select: { slug: true } })
    const slugs = new Set(taken.map(({ slug }) => slug))
    let slug = base
    for (let number = 2; slugs.has(slug); number += 1) slug = `${base}-${number}`
    return slug
  }

  return {
    listTenants: {
      handle({ caller, query }) {
        const where = { AND: [visibleTenants(caller), nameContains(query.search)] }
        return answerPage(
          query,
          () => prisma.tenant.count({ where }),
          async (slice) => shown(caller, await prisma.tenant.findMany({ where, orderBy: NEWEST_FIRST, ...slice })),
        )
      },
    },

    createTenant: {
      check: ({ variables }) => valueProblems(variables, 'variables'),
      async handle(call) {
        const { caller } = call
        const body = call.body as Static<typeof CreateTenant>
        const id = uuidv7()
        const data = {
          id,
          name: body.name,
          slug: body.slug ?? (await freeSlug(body.name)),
          description: body.description ?? null,
          variables_sealed: sealVariables(keys, 'tenant', id, body.variables),
        }
        try {
          const tenant = await prisma.$transaction(async (tx) => {
            const { name, slug } = data
            await call.audit.record(inPrisma(tx), { resource_id: id, tenant_id: id, details: { name, slug } })
            return tx.tenant.create({ data })
          })
          const [record] = await shown(caller, [tenant])
          return { status: 201, body: record }
        } catch (error) {
          if (!isUniqueViolation(error)) throw error
          throw conflict(`There is already a tenant named "${data.name}" or with the slug "${data.slug}"`)
        }
      },
    },

    getTenant: {
      async handle({ caller, params }) {
        const key = recordKey('tenant', params['id'] ?? '')
        const tenant = key && (await prisma.tenant.findFirst({ where: { ...key, AND: visibleTenants(caller) } }))
        if (tenant === null) throw notFound('The tenant')
        const [record] = await shown(caller, [tenant])
        return { status: 200, body: record }
      },
    },
  }
}

const MAX_SLUG_LENGTH = 240

/** Letters and digits of the name in ASCII, accents dropped. */
function slugOf(name: string): string {
  const ascii = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  const slug = ascii
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG_LENGTH)
    .replaceAll(/^-+|-+$/g, '')
  return slug === '' ? 'tenant' : slug
}
