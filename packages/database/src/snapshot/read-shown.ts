import type { Request, Snapshot } from '@slipway/engine'
import type { Queryable } from '../sql/statement.ts'
import { type NewRequest, readRound } from './read-round.ts'

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
 * Reads the next round, and the requests that are asked for although the round does not need them. So `admit` decides about all of
 * them: a request starts if the next round would start it, and otherwise has all its blockers. The number of statements does not
 * depend on the number of requests.
 *
 * The connection must see the rows of all tenants: requests of others come first, and hold slots and targets.
 */
export const readShown = (db: Queryable, { pending, arrivals }: ShownReading): Promise<ReadShown> =>
  readRound(db, { arrivals, heldOrphans: [], named: pending, exact: true })
