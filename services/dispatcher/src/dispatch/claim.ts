import type { Queryable } from '@slipway/database'
import { renewRequestedTargets } from '../locks/requested-targets.ts'
import { renewSubjects } from '../pending/queue.sql.ts'
import { type ClaimedRequest, claim, markFailed } from '../pending/status.ts'
import { vanishedRecords } from '../pending/vanished-records.ts'

/** A pending request that starts, with the ids of the targets that it locks. */
export interface ReadyRequest {
  request: ClaimedRequest
  locks: readonly string[]
}

export interface Claimed {
  /** The requests that may start. */
  ready: ReadyRequest[]
  /** How many others changed: these use records that are gone, or are decided again. */
  changed: number
}

/**
 * Locks pending requests and reads their commands. Ends those that use records which are gone. A request that was cancelled meanwhile
 * may not start. One whose targets have another tenant, environment or policy is decided again.
 */
export async function claimRequests(
  tx: Queryable,
  ids: readonly string[],
  { placesMatter }: { placesMatter: boolean },
): Promise<Claimed> {
  if (ids.length === 0) return { ready: [], changed: 0 }
  const claimed = await claim(tx, ids)
  const inHand = claimed.map(({ id }) => id)
  const [vanished, { locks, renewed }, moved] = await Promise.all([
    vanishedRecords(tx, claimed),
    renewRequestedTargets(tx, claimed),
    placesMatter ? renewSubjects.all(tx, { ids: inHand }) : [],
  ])
  const changed = new Set([...renewed, ...moved.map(({ id }) => id)])
  const stable = claimed.filter(({ id }) => !changed.has(id))
  await markFailed(
    tx,
    stable.flatMap((request) => {
      const reason = vanished.get(request.id)
      return reason === undefined ? [] : [{ request, reason }]
    }),
  )
  const ready = stable
    .filter(({ id }) => !vanished.has(id))
    .map((request) => ({ request, locks: locks.get(request.id) ?? [] }))
  return { ready, changed: claimed.length - ready.length }
}
