import type { Queryable } from '@slipway/database'
import { isUuid, notFound } from '@slipway/domain'
import { fieldReferences, References } from '../catalog/references.ts'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import { answerPage, newestOrder } from '../pages.ts'
import { deleteGrant, findGrant, findGrants } from './instance-grants.sql.ts'
import { requireNoTenant } from './instances.ts'
import { type GrantRow, grantDetails, makeGrant } from './new-grant.ts'

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
        const wanted = { ...body, tenant_id: references.id('/tenant_id'), created_by: caller.user_id }
        const { grant, token } = await database.transaction(async (tx) => {
          const made = await makeGrant(tx, wanted)
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
