import { type Queryable, statement, uuid } from '@slipway/database'
import { isUuid, notFound } from '@slipway/domain'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import { afterNewerSql, pageColumns } from '../pages.sql.ts'
import { answerPage, newestOrder } from '../pages.ts'
import { fieldReferences, References } from '../records/references.ts'
import { requireNoTenant } from './instances.ts'
import { GRANT, GRANT_COLUMNS, type GrantRow, grantDetails, makeGrant } from './new-grant.ts'

const findGrants = statement({
  name: 'gateway.instance-grants.find-page',
  parameters: pageColumns,
  row: GRANT,
  sql: `SELECT ${GRANT_COLUMNS} FROM instance_grants g WHERE ${afterNewerSql('g')} ORDER BY created_at DESC, id DESC LIMIT :take OFFSET :skip`,
})

const findGrant = statement({
  name: 'gateway.instance-grants.find',
  parameters: { id: uuid },
  row: GRANT,
  sql: `SELECT ${GRANT_COLUMNS} FROM instance_grants WHERE id = :id`,
})

const deleteGrant = statement({
  name: 'gateway.instance-grants.delete',
  parameters: { id: uuid },
  row: GRANT,
  sql: `DELETE FROM instance_grants WHERE id = :id RETURNING ${GRANT_COLUMNS}`,
})

type GrantOperation = 'listInstanceGrants' | 'createInstanceGrant' | 'getInstanceGrant' | 'revokeInstanceGrant'

/** Grants belong to the installation, not to a tenant, so only users without tenant see them. */
export function instanceGrantHandlers({ database }: Dependencies): HandlersOf<GrantOperation> {
  return {
    listInstanceGrants: {
      authorize: (caller) => requireNoTenant(caller, 'instances:read for grants'),
      handle: ({ query }) =>
        answerPage(
          query,
          newestOrder('instance-grants'),
          async () => (await database.prisma()).instanceGrant.count(),
          (slice) => findGrants.all(database, slice),
          (rows) => rows.map(toRecord),
        ),
    },

    createInstanceGrant: {
      authorize: (caller) => requireNoTenant(caller, 'instances:create'),
      async handle({ caller, body, audit }) {
        const references = await References.resolve(database, caller, fieldReferences(body, { tenant_id: 'tenant' }))
        const requested = { ...body, tenant_id: references.id('/tenant_id'), created_by: caller.user_id }
        const { grant, token } = await database.transaction(async (tx) => {
          const made = await makeGrant(tx, requested)
          await audit.record(tx, { resource_id: made.grant.id, tenant_id: null, details: grantDetails(made.grant) })
          return made
        })
        return { status: 201, body: { ...toRecord(grant), token } }
      },
    },

    getInstanceGrant: {
      authorize: (caller) => requireNoTenant(caller, 'instances:read for grants'),
      async handle({ params }) {
        return { status: 200, body: toRecord(await requireGrant(database, findGrant, params['id'] ?? '')) }
      },
    },

    revokeInstanceGrant: {
      authorize: (caller) => requireNoTenant(caller, 'instances:delete'),
      async handle({ params, audit }) {
        await database.transaction(async (tx) => {
          const { id, uses, used } = await requireGrant(tx, deleteGrant, params['id'] ?? '')
          await audit.record(tx, { resource_id: id, tenant_id: null, details: { uses, used } })
        })
        return { status: 204 }
      },
    },
  }
}

/** @throws Problem NOT_FOUND */
async function requireGrant(db: Queryable, statement: typeof findGrant, id: string): Promise<GrantRow> {
  const grant = isUuid(id) ? await statement.first(db, { id }) : null
  if (grant === null) throw notFound('The grant')
  return grant
}

const toRecord = ({ expired, created_at, expires_at, ...grant }: GrantRow) => ({
  ...grant,
  status: grant.used >= grant.uses ? 'used_up' : expired ? 'expired' : 'active',
  created_at: created_at.toISOString(),
  expires_at: expires_at.toISOString(),
})
