import type { ChangeTenant, CreateTenant, Static } from '@slipway/contracts'
import type { Database } from '@slipway/database'
import { shownSelector, shownVariables, type Viewer, visibleTenants } from '@slipway/database/read-models'
import { encodeSqid, Problem } from '@slipway/domain'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import { orNull, pickGiven } from '../records/changes.ts'
import { type Change, type Creation, recordHandlers } from '../records/handlers.ts'
import { type RecordOf, recordKind } from '../records/kind.ts'
import { findTakenName, OF_INSTALLATION } from '../records/names.ts'
import { tableOf } from '../records/table.ts'
import { refers } from '../records/uses.ts'
import { changedValues, newValues } from './values.ts'
import { valueProblems } from './variable-rules.ts'

const TENANT = recordKind({
  name: 'tenant',
  resource: 'tenants',
  table: tableOf('tenant', {}),
  sqids: 'tenant',
  owner: {
    seenBy: visibleTenants,
    requireChangeable({ tenant_id }: Viewer) {
      if (tenant_id !== null) throw new Problem('FORBIDDEN', 'Only users without tenant may do this')
    },
    tenantOf: ({ id }) => id,
  },
  uniqueName: OF_INSTALLATION,
  usedBy: [
    refers('users', 'tenant_id', 'a user'),
    refers('environments', 'tenant_id', 'an environment'),
    refers('targets', 'tenant_id', 'a target'),
    refers('sources', 'tenant_id', 'an action, a sequence or a solution'),
    refers('freezes', 'tenant_id', 'a freeze'),
    refers('webhooks', 'tenant_id', 'a webhook'),
    `SELECT 'an orchestration instance' AS what
      WHERE EXISTS (SELECT FROM instances i WHERE i.tenant_id = :id::uuid AND i.removed_at IS NULL)`,
    refers('deployments', 'tenant_id', 'a deployment'),
    refers('pending_requests', 'tenant_id', 'a request for a deployment'),
  ],
})

/** Stored and shown as they are given. */
const FIELDS = ['description', 'managed_by'] as const

type TenantRow = RecordOf<typeof TENANT>
type TenantInput = Static<typeof CreateTenant>
type TenantOperation = `${'create' | 'get' | 'update' | 'delete'}Tenant` | 'listTenants'

export function tenantHandlers(dependencies: Dependencies): HandlersOf<TenantOperation> {
  const { database, keys } = dependencies

  function toRecord(row: TenantRow) {
    const { id, number, name, slug, description, managed_by, created_at, updated_at } = row
    return {
      id,
      sqid: encodeSqid('tenant', number),
      name,
      slug,
      description,
      ...shownVariables(keys, 'tenant', row),
      ...shownSelector(row),
      managed_by,
      created_at,
      updated_at,
    }
  }

  const handlers = recordHandlers(dependencies, TENANT, {
    show: (rows) => rows.map(toRecord),
    check: ({ variables }) => valueProblems(variables, 'variables'),
    async prepareCreate({ body: given, resolve }) {
      const body = given as TenantInput
      const slug = body.slug ?? (await freeSlug(database, body.name))
      return { body: { ...body, slug }, references: await resolve([]) }
    },
    create: async ({ id, body }: Creation<TenantInput & { slug: string }>) => ({
      columns: {
        id,
        name: body.name,
        slug: body.slug,
        ...orNull(body, FIELDS),
        ...newValues(keys, 'tenant', id, body),
      },
      details: { name: body.name, slug: body.slug },
    }),
    update: async ({ old, body }: Change<TenantRow, Static<typeof ChangeTenant>>) =>
      changedValues(keys, 'tenant', old, body, pickGiven(body, ['name', 'slug', ...FIELDS])),
    deleted: ({ name }) => ({ name }),
    async describeTaken(_caller, id, { name = '', slug }) {
      const message = await findTakenName(database, TENANT, { id, name, tenant_id: null })
      if (message !== null) return { path: '/name', message }
      return { path: '/slug', message: `There is already a tenant with the slug "${slug}"` }
    },
  })
  return {
    listTenants: handlers.list,
    createTenant: handlers.create,
    getTenant: handlers.get,
    updateTenant: handlers.update,
    deleteTenant: handlers.delete,
  }
}

/** The slug of the name, with a number if it is taken. */
async function freeSlug(database: Database, name: string): Promise<string> {
  const base = slugOf(name)
  const { tenant } = await database.prisma()
  const taken = await tenant.findMany({ where: { slug: { startsWith: base } }, select: { slug: true } })
  const slugs = new Set(taken.map(({ slug }) => slug))
  let slug = base
  for (let number = 2; slugs.has(slug); number += 1) slug = `${base}-${number}`
  return slug
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
