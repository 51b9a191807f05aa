import type { Queryable, RowOf } from '@slipway/database'
import type { FreezeSubject } from '@slipway/domain'
import type { PendingItem } from './pending.sql.ts'
import { findObstacles } from './target-locks.sql.ts'
import { holderOf } from './target-locks.ts'

/** The most held targets that an item names. */
const NAMED = 3

/** Why a request waits for targets. */
interface Obstacle {
  waiting_for: 'target_lock'
  waiting_reason: string
  held_targets?: NonNullable<PendingItem['held_targets']>
  starts_in?: never
}

type Found = RowOf<typeof findObstacles>

/**
 * What requests wait for that need targets for themselves, by id. `isFrozen` tells of earlier requests that a freeze holds: these
 * reserve nothing.
 */
export async function readObstacles(
  db: Queryable,
  ids: readonly string[],
  isFrozen: (subject: FreezeSubject) => boolean,
): Promise<Map<string, Obstacle>> {
  if (ids.length === 0) return new Map()
  const found = new Map<string, Found[]>()
  for (const row of await findObstacles.all(db, { ids, limit: NAMED }))
    found.set(row.id, [...(found.get(row.id) ?? []), row])
  return new Map(
    [...found].flatMap(([id, rows]): [string, Obstacle][] => {
      const obstacle = obstacleOf(rows, isFrozen)
      return obstacle === null ? [] : [[id, obstacle]]
    }),
  )
}

function obstacleOf(rows: readonly Found[], isFrozen: (subject: FreezeSubject) => boolean): Obstacle | null {
  const held_targets = rows.flatMap(({ target_id, target_name, deployment_id, since }) =>
    since === null
      ? []
      : [{ target_id, target_name, ...(deployment_id === null ? {} : { deployment_id }), since: since.toISOString() }],
  )
  const [first] = held_targets
  if (first !== undefined) {
    const more = Number(rows[0]?.held) - 1
    const others = more > 0 ? `; ${more} more of its targets ${more === 1 ? 'is' : 'are'} held` : ''
    const waiting_reason = `Waits for the target "${first.target_name}", ${holderOf(first)}${others}`
    return { waiting_for: 'target_lock', waiting_reason, held_targets }
  }
  const [reserved] = rows
  if (reserved === undefined || (reserved.subject !== null && isFrozen(reserved.subject))) return null
  const waiting_reason = `Waits for the target "${reserved.target_name}": a request before it comes first`
  return { waiting_for: 'target_lock', waiting_reason }
}
