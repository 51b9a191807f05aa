import { type Queryable, readFreezes } from '@slipway/database'
import { type FreezeSubject, type FreezeVerdict, judgeFreezes } from '@slipway/domain'

export interface FreezesInForce {
  /** No freeze is in force, so no request needs to be judged. */
  none: boolean
  judge(subject: FreezeSubject): FreezeVerdict
}

/** The freezes that are in force at this moment, by the clock of the database. */
export async function freezesInForce(tx: Queryable): Promise<FreezesInForce> {
  const { freezes, now } = await readFreezes(tx)
  const inForce = freezes.presentAt(now)
  return { none: inForce.length === 0, judge: (subject) => judgeFreezes(inForce, subject) }
}
