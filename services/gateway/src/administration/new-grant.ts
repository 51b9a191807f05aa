import type { CreateInstanceGrant, Static } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { hashToken, randomToken, uuidv7 } from '@slipway/runtime'

const DEFAULT_SECONDS = 3_600
/** Grants that ended this long ago are deleted when the next one is created. The audit log keeps their story. */
const KEPT_AFTER_END = '30 days'

export interface GrantRow {
  id: string
  uses: number
  used: number
  labels: Record<string, string | null>
  tenant_id: string | null
  expires_at: Date
  created_by: string | null
  created_at: Date
  expired: boolean
}

export const GRANT_COLUMNS = `id, uses, used, labels, tenant_id, expires_at, created_by, created_at,
  expires_at <= now() AS expired`

export interface WantedGrant extends Omit<Static<typeof CreateInstanceGrant>, 'tenant_id'> {
  tenant_id: string | null
  created_by: string | null
}

/** Inserts a grant to join. The token is in the answer only: the database has its hash. */
export async function insertGrant(tx: Queryable, wanted: WantedGrant): Promise<{ grant: GrantRow; token: string }> {
  const { expires_in_seconds = DEFAULT_SECONDS, uses = 1, labels = {}, tenant_id, created_by } = wanted
  const id = uuidv7()
  const token = `${id}.${randomToken()}`
  await tx.query(`DELETE FROM instance_grants WHERE expires_at < now() - interval '${KEPT_AFTER_END}'`)
  const { rows } = await tx.query<GrantRow>(
    `INSERT INTO instance_grants (id, token_hash, uses, labels, tenant_id, expires_at, created_by)
     VALUES ($1, $2, $3, $4, $5, now() + make_interval(secs => $6), $7) RETURNING ${GRANT_COLUMNS}`,
    [id, hashToken(token), uses, JSON.stringify(labels), tenant_id, expires_in_seconds, created_by],
  )
  const [grant] = rows
  if (grant === undefined) throw new Error('INSERT INTO instance_grants returned no row')
  return { grant, token }
}

/** What the audit log says of a new grant. */
export const grantDetails = ({ uses, labels, tenant_id, expires_at }: GrantRow) => ({
  uses,
  labels,
  for_tenant_id: tenant_id,
  expires_at: expires_at.toISOString(),
})
