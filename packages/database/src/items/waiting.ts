import { type Freeze, type FreezeSubject, judgeFreezes, presentFreezes } from '@slipway/domain'
import type { Queryable } from '../database.ts'
import { jsonObject } from './json.ts'
import { PENDING_REQUEST } from './pending.ts'

/** What freezes judge a waiting request by; null for one that does not wait. From the same rows as `PENDING_REQUEST`. */
const SUBJECT = `CASE WHEN r.status = 'pending' THEN ${jsonObject({
  tenant_id: 'r.tenant_id',
  environment_id: 'r.environment_id',
  solution_id: `CASE WHEN r.command #>> '{plan,source,type}' = 'solution' THEN r.command #>> '{plan,source,id}' END`,
  caller: `r.command -> 'caller'`,
  override: `coalesce(r.command -> 'freeze_override', 'null') <> 'null'`,
})} END`

/** Why a request waits, as its item tells it. */
interface Waiting {
  waiting_for: 'freeze'
  waiting_reason: string
}

interface PendingRow {
  request: object
  subject: FreezeSubject | null
}

/**
 * Pending requests as lists show them. `from` is the rest of a SELECT whose rows are `r`: requests with their `position`.
 */
export async function pendingItems(db: Queryable, from: string, parameters: unknown[]): Promise<object[]> {
  const heldByFreezes = await readFreezeHold(db)
  // A command holds its whole plan: it is read only where something may hold it back.
  const subject = heldByFreezes === null ? 'NULL' : SUBJECT
  const { rows } = await db.query<PendingRow>(
    `SELECT ${PENDING_REQUEST} AS request, ${subject} AS subject ${from}`,
    parameters,
  )
  return rows.map(({ request, subject }) => ({ ...request, ...(subject && heldByFreezes?.(subject)) }))
}

/** What freezes hold back, by the rule by which the dispatcher passes requests over; null when none is in force. */
async function readFreezeHold(db: Queryable): Promise<((subject: FreezeSubject) => Waiting | null) | null> {
  const { rows } = await db.query<Freeze & { now: Date }>(
    `SELECT id, name, start_time, end_time, recurrence, start_offset, time_zone, tenant_id, environment_id,
            solution_id, now() AS now
       FROM freezes WHERE end_time > now() OR recurrence IS NOT NULL`,
  )
  const now = rows[0]?.now ?? new Date(0)
  const inForce = presentFreezes(rows, now)
  if (inForce.length === 0) return null
  return (subject) => {
    const { blocked, active_freezes } = judgeFreezes(inForce, subject, now)
    if (!blocked) return null
    const freezes = active_freezes.map(({ name, ends_at }) => `freeze "${name}" until ${ends_at}`)
    return { waiting_for: 'freeze', waiting_reason: `Held back by ${freezes.join(' and ')}` }
  }
}
