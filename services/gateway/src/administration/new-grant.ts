import type { CreateInstanceGrant, Static } from '@slipway/contracts'
import {
  bool,
  float8,
  int4,
  jsonb,
  nullable,
  type Queryable,
  type RowOf,
  statement,
  text,
  timestamptz,
  uuid,
} from '@slipway/database'
import { hashToken, randomToken, uuidv7 } from '@slipway/runtime'

const DEFAULT_SECONDS = 3_600

/** A grant as statements return it. */
export const GRANT = {
  id: uuid,
  uses: int4,
  used: int4,
  labels: jsonb<Record<string, string | null>>(),
  tenant_id: nullable(uuid),
  expires_at: timestamptz,
  created_by: nullable(uuid),
  created_at: timestamptz,
  expired: bool,
}
export const GRANT_COLUMNS = `id, uses, used, labels, tenant_id, expires_at, created_by, created_at, expires_at <= now() AS expired`

/** Deletes grants that ended 30 days ago. The audit log keeps their records. */
const deleteOldGrants = statement({
  name: 'gateway.instance-grants.delete-old',
  sql: `DELETE FROM instance_grants WHERE expires_at < now() - interval '30 days'`,
})

const insertGrant = statement({
  name: 'gateway.instance-grants.insert',
  parameters: {
    id: uuid,
    token_hash: text,
    uses: int4,
    labels: jsonb<Record<string, string | null>>(),
    tenant_id: nullable(uuid),
    seconds: float8,
    created_by: nullable(uuid),
  },
  row: GRANT,
  sql: `INSERT INTO instance_grants (id, token_hash, uses, labels, tenant_id, expires_at, created_by)
    VALUES (:id, :token_hash, :uses, :labels, :tenant_id, now() + make_interval(secs => :seconds), :created_by)
    RETURNING ${GRANT_COLUMNS}`,
})

export type GrantRow = RowOf<typeof insertGrant>

interface WantedGrant extends Omit<Static<typeof CreateInstanceGrant>, 'tenant_id'> {
  tenant_id: string | null
  created_by: string | null
}

/** Inserts a grant. The database has only the hash of its token. */
export async function makeGrant(tx: Queryable, requested: WantedGrant): Promise<{ grant: GrantRow; token: string }> {
  const { expires_in_seconds = DEFAULT_SECONDS, uses = 1, labels = {}, tenant_id, created_by } = requested
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
