import type { Queryable } from './database.ts'

/** One change, or one refusal of a change. Never holds a secret. */
export interface AuditEntry {
  actor_id: string | null
  actor_name: string | null
  actor_ip: string | null
  /** `KIND.VERB`, as the operation's `audit` in the contracts. */
  action: string
  resource_type: string
  resource_id: string | null
  tenant_id: string | null
  request_id: string | null
  details: Record<string, unknown>
}

/** Writes records within the caller's transaction, so that there is no change without its record. One statement. */
export async function recordAudit(tx: Pick<Queryable, 'query'>, entries: AuditEntry[]): Promise<void> {
  if (entries.length === 0) return
  await tx.query(
    `INSERT INTO audit_records
       (id, actor_id, actor_name, actor_ip, action, resource_type, resource_id, tenant_id, request_id, details)
     SELECT gen_random_uuid(), * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[],
       $7::uuid[], $8::text[], $9::jsonb[])`,
    [
      entries.map((e) => e.actor_id),
      entries.map((e) => e.actor_name),
      entries.map((e) => e.actor_ip),
      entries.map((e) => e.action),
      entries.map((e) => e.resource_type),
      entries.map((e) => e.resource_id),
      entries.map((e) => e.tenant_id),
      entries.map((e) => e.request_id),
      entries.map((e) => JSON.stringify(e.details)),
    ],
  )
}
