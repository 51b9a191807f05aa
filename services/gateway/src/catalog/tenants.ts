import type { ChangeTenant, CreateTenant, Static } from '@slipway/contracts'
import type { Prisma, Queryable } from '@slipway/database'
import {
  type StoredVariables,
  shownSelector,
  shownVariables,
  type Viewer,
  visibleTenants,
} from '@slipway/database/read-models'
import { encodeSqid, notFound, Problem } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import { answerPage, managedBy, nameContains, newestOrder, pageOfNewest } from '../pages.ts'
import { changesOf, conflictIfTaken, lockRecord, pickGiven } from './changing.ts'
import { changedSelector, newSelector } from './instance-selectors.ts'
import { recordKey } from './record-id.ts'
import { findTakenName, keyOfName } from './taken-names.ts'
import { requireUnused } from './uses.ts'
import { valueProblems } from './variable-rules.ts'
import { changedVariables, newVariables } from './variables.ts'

interface TenantRow extends StoredVariables {
  number: number
  instance_selector: unknown
  name: string
  slug: string
  description: string | null
  managed_by: string | null
  created_at: Date
  updated_at: Date
}

export function tenantHandlers({
  database,
  keys,
}: Dependencies): HandlersOf<'listTenants' | 'createTenant' | 'getTenant' | 'updateTenant' | 'deleteTenant'> {
  const { prisma } = database

  function toRecord(row: TenantRow) {
    const { id, number, name, slug, description, managed_by, created_at, updated_at } = row
    const sqid = encodeSqid('tenant', number)
    const variables = { ...shownVariables(keys, 'tenant', row), ...shownSelector(row) }
    return { id, sqid, name, slug, description, ...variables, managed_by, created_at, updated_at }
  }

  async function find(viewer: Viewer, id: string): Promise<TenantRow> {
    const key = recordKey('tenant', id)
    const tenant = key && (await (await prisma()).tenant.findFirst({ where: { ...key, AND: visibleTenants(viewer) } }))
    if (tenant === null) throw notFound('The tenant')
    return tenant
  }

  /** The slug of the name, with a number if it is taken. */
  async function freeSlug(name: string): Promise<string> {
    const base = slugOf(name)
    const taken = await (await prisma()).tenant.findMany({
      where: { slug: { startsWith: base } },
      select: { slug: true },
    })
    const slugs = new Set(taken.map(({ slug }) => slug))
    let slug = base
    for (let number = 2; slugs.has(slug); number += 1) slug = `${base}-${number}`
    return slug
  }

  return {
    listTenants: {
      handle({ caller, query }) {
        const where = { AND: [visibleTenants(caller), nameContains(query.search), managedBy(query.managed_by)] }
        return answerPage(
          query,
          newestOrder('tenants'),
          async () => (await prisma()).tenant.count({ where }),
          async (slice) => (await prisma()).tenant.findMany(pageOfNewest(where, slice)),
          (rows) => rows.map(toRecord),
        )
      },
    },

    createTenant: {
      check: ({ variables }) => valueProblems(variables, 'variables'),
      async handle(call) {
        const body = call.body as Static<typeof CreateTenant>
        const id = uuidv7()
        const data = {
          id,
          name: body.name,
          ...keyOfName(body),
          slug: body.slug ?? (await freeSlug(body.name)),
          description: body.description ?? null,
          managed_by: body.managed_by ?? null,
          ...newVariables(keys, 'tenant', id, body),
          ...newSelector(body),
        }
        const tenant = await conflictIfTaken(
          () => describeTaken(database, data),
          () =>
            database.transaction(async (tx) => {
              const prisma = await tx.prisma()
              const { name, slug } = data
              await call.audit.record(tx, { resource_id: id, tenant_id: id, details: { name, slug } })
              return prisma.tenant.create({ data })
            }),
        )
        return { status: 201, body: toRecord(tenant) }
      },
    },

    getTenant: {
      async handle({ caller, params }) {
        return { status: 200, body: toRecord(await find(caller, params['id'] ?? '')) }
      },
    },

    updateTenant: {
      check: ({ variables }) => valueProblems(variables, 'variables'),
      async handle(call) {
        const { caller } = call
        const body = call.body as Static<typeof ChangeTenant>
        const { id, ...found } = await find(caller, call.params['id'] ?? '')
        requireOutside(caller)
        const tenant = await conflictIfTaken(
          () => describeTaken(database, { ...found, ...body, id }),
          () =>
            database.transaction(async (tx) => {
              const prisma = await tx.prisma()
              await lockRecord(tx, 'tenants', id)
              const old = await prisma.tenant.findFirst({ where: { id } })
              if (old === null) throw notFound('The tenant')
              const fields = pickGiven(body, ['name', 'slug', 'description', 'managed_by'])
              const selector = changedSelector(body)
              const details: Record<string, unknown> = { changes: changesOf(old, { ...fields, ...selector }) }
              const data: Prisma.TenantUncheckedUpdateInput = { ...fields, ...keyOfName(body), ...selector }
              const variables = changedVariables(keys, 'tenant', old, body)
              if (variables !== null) {
                Object.assign(data, variables.columns)
                details['variables'] = variables.changes
              }
              await call.audit.record(tx, { resource_id: id, tenant_id: id, details })
              return prisma.tenant.update({ where: { id }, data })
            }),
        )
        return { status: 200, body: toRecord(tenant) }
      },
    },

    deleteTenant: {
      async handle({ caller, params, audit }) {
        const { id, name } = await find(caller, params['id'] ?? '')
        requireOutside(caller)
        await database.transaction(async (tx) => {
          const prisma = await tx.prisma()
          await lockRecord(tx, 'tenants', id)
          await requireUnused(tx, 'tenant', id)
          const { count } = await prisma.tenant.deleteMany({ where: { id } })
          if (count === 0) throw notFound('The tenant')
          await audit.record(tx, { resource_id: id, tenant_id: id, details: { name } })
        })
        return { status: 204 }
      },
    },
  }
}

function requireOutside({ tenant_id }: Viewer): void {
  if (tenant_id !== null) throw new Problem('FORBIDDEN', 'Only users without tenant may do this')
}

async function describeTaken(db: Queryable, { id, name, slug }: { id: string; name: string; slug: string }) {
  return (await findTakenName(db, 'tenant', { id, name })) ?? `There is already a tenant with the slug "${slug}"`
}

const MAX_SLUG_LENGTH = 240

/** The ASCII letters and digits of the name, without accents. */
function slugOf(name: string): string {
  const ascii = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  const slug = ascii
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG_LENGTH)
    .replaceAll(/^-+|-+$/g, '')
  return slug === '' ? 'tenant' : slug
}
