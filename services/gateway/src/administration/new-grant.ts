import type { CreateInstanceGrant, Static } from '@slipway/contracts'
import type { Queryable, RowOf } from '@slipway/database'
import { hashToken, randomToken, uuidv7 } from '@slipway/runtime'
import { deleteOldGrants, insertGrant } from './instance-grants.sql.ts'

const DEFAULT_SECONDS = 3_600

export type GrantRow = RowOf<typeof insertGrant>

interface WantedGrant extends Omit<Static<typeof CreateInstanceGrant>, 'tenant_id'> {
  tenant_id: string | null
  created_by: string | null
}

/** Inserts a grant. The database has only the hash of its token. */
export async function makeGrant(tx: Queryable, wanted: WantedGrant): Promise<{ grant: GrantRow; token: string }> {
  const { expires_in_seconds = DEFAULT_SECONDS, uses = 1, labels = {}, tenant_id, created_by } = wanted
  const id = uuidv7()
  const token = `${id}.${randomToken()}`
  await deleteOldGrants.run(tx)
  const seconds = expires_in_seconds
  const token_hash = hashToken(token)
  const grant = await insertGrant.one(tx, { id, token_hash, uses, labels, tenant_id, seconds, created_by })
  return { grant, token }
}

/** What the audit record of a new grant says. */
export const grantDetails = ({ uses, labels, tenant_id, expires_at }: GrantRow) => ({
  uses,
  labels,
  for_tenant_id: tenant_id,
  expires_at: expires_at.toISOString(),
})
