import type { Queryable } from '@slipway/database'
import { isUuid, notFound } from '@slipway/domain'
import { answerPage } from '../catalog/listing.ts'
import { fieldReferences, References } from '../catalog/references.ts'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../http/handler.ts'
import { requireNoTenant } from './instances.ts'
import { GRANT_COLUMNS, type GrantRow, grantDetails, insertGrant } from './new-grant.ts'

type GrantOperation = 'listInstanceGrants' | 'createInstanceGrant' | 'getInstanceGrant' | 'revokeInstanceGrant'

/** Permissions for orchestration instances to join. They belong to the installation, as instances do. */
export function instanceGrantHandlers({ database }: Dependencies): HandlersOf<GrantOperation> {
  return {
    listInstanceGrants: {
      authorize: (caller) => requireNoTenant(caller, 'instances:read for grants'),
      handle: ({ query }) =>
        answerPage(
          query,
          async () => (await database.prisma()).instanceGrant.count(),
          async ({ skip, take }) => {
            const { rows } = await database.query<GrantRow>(
              `SELECT ${GRANT_COLUMNS} FROM instance_grants ORDER BY created_at DESC, id DESC LIMIT $1 OFFSET $2`,
              [take, skip],
            )
            return rows.map(shown)
          },
        ),
    },

    createInstanceGrant: {
      authorize: (caller) => requireNoTenant(caller, 'instances:create'),
      async handle({ caller, body, audit }) {
        const references = await References.resolve(database, caller, fieldReferences(body, { tenant_id: 'tenant' }))
        const wanted = { ...body, tenant_id: references.id('/tenant_id'), created_by: caller.user_id }
        const { grant, token } = await database.transaction(async (tx) => {
          const made = await insertGrant(tx, wanted)
          await audit.record(tx, { resource_id: made.grant.id, tenant_id: null, details: grantDetails(made.grant) })
          return made
        })
        return { status: 201, body: { ...shown(grant), token } }
      },
    },

    getInstanceGrant: {
      authorize: (caller) => requireNoTenant(caller, 'instances:read for grants'),
      async handle({ params }) {
        const sql = `SELECT ${GRANT_COLUMNS} FROM instance_grants WHERE id = $1`
        return { status: 200, body: shown(await oneGrant(database, sql, params['id'] ?? '')) }
      },
    },

    revokeInstanceGrant: {
      authorize: (caller) => requireNoTenant(caller, 'instances:delete'),
      async handle({ params, audit }) {
        await database.transaction(async (tx) => {
          const sql = `DELETE FROM instance_grants WHERE id = $1 RETURNING ${GRANT_COLUMNS}`
          const { id, uses, used } = await oneGrant(tx, sql, params['id'] ?? '')
          await audit.record(tx, { resource_id: id, tenant_id: null, details: { uses, used } })
        })
        return { status: 204 }
      },
    },
  }
}

/** @throws Problem NOT_FOUND */
async function oneGrant(db: Queryable, sql: string, id: string): Promise<GrantRow> {
  const { rows } = isUuid(id) ? await db.query<GrantRow>(sql, [id]) : { rows: [] }
  if (rows[0] === undefined) throw notFound('The grant')
  return rows[0]
}

const shown = ({ expired, created_at, expires_at, ...grant }: GrantRow) => ({
  ...grant,
  status: grant.used >= grant.uses ? 'used_up' : expired ? 'expired' : 'active',
  created_at: created_at.toISOString(),
  expires_at: expires_at.toISOString(),
})
