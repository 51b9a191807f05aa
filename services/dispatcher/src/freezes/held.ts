import type { Queryable } from '@slipway/database'
import { type Freeze, type FreezeSubject, type FreezeVerdict, judgeFreezes, presentFreezes } from '@slipway/domain'

export interface FreezesNow {
  /** No freeze is in force: nothing needs to be looked at. */
  none: boolean
  judge(subject: FreezeSubject): FreezeVerdict
}

/** The freezes as they are now, by the database's clock. */
export async function freezesNow(tx: Queryable): Promise<FreezesNow> {
  const { rows } = await tx.query<Freeze & { now: Date }>(
    `SELECT id, name, start_time, end_time, recurrence, start_offset, time_zone, tenant_id, environment_id,
            solution_id, now() AS now
       FROM freezes WHERE end_time > now() OR recurrence IS NOT NULL`,
    [],
  )
  const now = rows[0]?.now ?? new Date(0)
  // Once for all requests: a recurrence takes longer to work out than all else.
  const inForce = presentFreezes(rows, now)
  return { none: inForce.length === 0, judge: (subject) => judgeFreezes(inForce, subject, now) }
}
