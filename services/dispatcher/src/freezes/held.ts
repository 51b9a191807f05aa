import { type Queryable, readFreezes } from '@slipway/database'
import { type FreezeSubject, type FreezeVerdict, judgeFreezes, type TargetPlace } from '@slipway/domain'
import { findPlaces } from './held.sql.ts'

export interface FreezesInForce {
  /** Whether no freeze is active. Then no request has to be judged. */
  none: boolean
  /** Whether a freeze names a tenant or an environment. Then those of the targets matter. */
  aboutPlaces: boolean
  judge(subject: FreezeSubject): FreezeVerdict
}

/** The freezes that are active now, by the clock of the database. */
export async function freezesInForce(tx: Queryable): Promise<FreezesInForce> {
  const { freezes, now } = await readFreezes(tx)
  const inForce = freezes.presentAt(now)
  return {
    none: inForce.length === 0,
    aboutPlaces: inForce.some(({ tenant_id, environment_id }) => tenant_id !== null || environment_id !== null),
    judge: (subject) => judgeFreezes(inForce, subject),
  }
}

/** For each list of targets, the tenants and environments of the targets now. */
export async function placesOfTargets(tx: Queryable, lists: readonly (readonly string[])[]): Promise<TargetPlace[][]> {
  const rows = await findPlaces.all(tx, {
    lists: lists.flatMap((ids, list) => ids.map(() => list)),
    target_ids: lists.flat(),
  })
  return lists.map((_, index) => rows.flatMap(({ list, ...place }) => (list === index ? [place] : [])))
}
