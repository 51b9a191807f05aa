import { type Blocker, groupBlockersOf } from '@slipway/engine'
import type { Queryable } from '../sql/statement.ts'
import { findFacts } from './facts.sql.ts'
import { readFreezes } from './freezes.ts'
import { countGroups, countParked } from './queue.sql.ts'
import { type Group, groupOf, readInstances, snapshotOf } from './read-round.ts'

/** Pending requests that freezes, limits and pools treat alike. */
export interface WaitingGroup extends Group {
  pending: number
  /** How many seconds the first of them has waited. */
  age: number
  /** What holds all of them, without targets and slots. */
  blockers: readonly Blocker[]
}

/** All groups of pending requests, by what holds them, and the parked requests. The cost grows with the queue: for metrics. */
export async function readGroups(db: Queryable) {
  const [{ freezes, now }, facts, instances, counts, parked] = await Promise.all([
    readFreezes(db),
    findFacts.one(db, { prepared: [], held_orphans: [], limit: 0 }),
    readInstances(db, { requested: 0, most: 0, exact: true }),
    countGroups.all(db),
    countParked.all(db),
  ])
  const snapshot = snapshotOf({ freezes, now }, facts, instances)
  const counted = new Map(counts.map((row) => [row.key, row]))
  const groups = (facts.groups ?? []).flatMap((row): WaitingGroup[] => {
    const group = groupOf(row)
    const found = counted.get(row.key)
    if (found === undefined) return []
    return [{ ...group, pending: found.pending, age: found.age, blockers: groupBlockersOf(snapshot, group, now) }]
  })
  return { instances, groups, parked }
}
