import type { Request, RequestedTarget, Snapshot, StartRequest, TargetState } from '@slipway/engine'
import type { Queryable } from '../sql/statement.ts'
import { findPending, findWaitedFor } from './queue.sql.ts'
import { type NewRequest, readRound, withKeepers } from './read-round.ts'

export interface ShownReading {
  /** Ids of pending requests. */
  pending: readonly string[]
  arrivals: readonly NewRequest[]
}

/** What the engine needs to say what the next round would decide about the requests that are asked for. */
export interface ReadShown {
  snapshot: Snapshot
  /** All requests of the next round, and those that are asked for. Without those that are not pending any more. */
  requests: Request[]
}

/**
 * Reads the next round as `readRound` does, and the requests that are asked for although the round does not need them: these wait. So
 * `admit` decides about all of them: a request starts if the next round would start it, and otherwise has all its blockers. The number
 * of statements does not depend on the number of requests.
 *
 * The connection must see the rows of all tenants: requests of others come first, and hold slots and targets.
 */
export async function readShown(db: Queryable, { pending, arrivals }: ShownReading): Promise<ReadShown> {
  const [round, rows] = await Promise.all([
    readRound(db, { arrivals, heldOrphans: [], exact: true }),
    pending.length === 0 ? [] : findPending.all(db, { ids: pending }),
  ])
  const isInRound = new Set(round.requests.map(({ id }) => id))
  const waiting = rows.filter(({ id }) => !isInRound.has(id))
  const { requested, states } = await readWaitedFor(db, {
    ids: waiting.filter(({ wants_targets }) => wants_targets).map(({ id }) => id),
    open: round.open,
    known: round.snapshot.targets,
  })
  return {
    snapshot: { ...round.snapshot, targets: states },
    requests: [
      ...round.requests,
      ...waiting.map(({ id, rank, subject, selector, retry_at }): StartRequest => {
        const { tenant_id } = subject
        const targets = requested.get(id) ?? []
        return { kind: 'start', id, tenant_id, subject, selector, rank, targets, retry_at, arrival: null }
      }),
    ],
  }
}

async function readWaitedFor(
  db: Queryable,
  { ids, open, known }: { ids: readonly string[]; open: readonly string[]; known: ReadonlyMap<string, TargetState> },
): Promise<{ requested: Map<string, RequestedTarget[]>; states: Map<string, TargetState> }> {
  const requested = new Map<string, RequestedTarget[]>()
  const states = new Map(known)
  if (ids.length === 0) return { requested, states }
  for (const row of await findWaitedFor.all(db, { ids, open })) {
    const { id, name, policy, request_ids } = row
    states.set(id, withKeepers(states.get(id), row))
    // A queued request still waits for a target whose policy has become `allow`.
    const target = { id, name, policy: policy === 'allow' ? 'queue' : policy } as const
    for (const request of request_ids) {
      const targets = requested.get(request) ?? []
      targets.push(target)
      requested.set(request, targets)
    }
  }
  return { requested, states }
}
