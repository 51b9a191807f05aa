/** Between two calls of an idle screen: at most two of them in ten seconds. */
const IDLE_MS = 5_100
/** While something runs, or after a change of one's own. */
const BUSY_MS = 2_000

/** Something on screen that is read again from time to time. */
export interface Candidate {
  /** When it was read last, or when that failed. */
  readAt: number
  /** How often it is to be read; null: as often as it goes. */
  everyMs: number | null
}

interface Moment {
  now: number
  /** When the last call began. */
  lastCallAt: number
  isBusy: boolean
}

/**
 * What is to be read now, if anything: one call at a time, the one that is late by the largest factor. So a screen costs
 * the same, however much it shows.
 */
export function dueRead<C extends Candidate>(candidates: readonly C[], { now, lastCallAt, isBusy }: Moment): C | null {
  const pace = isBusy ? BUSY_MS : IDLE_MS
  if (now - lastCallAt < pace) return null
  const lateness = ({ readAt, everyMs }: Candidate) => (now - readAt) / (everyMs ?? pace)
  const due = candidates.filter((candidate) => lateness(candidate) >= 1)
  return due.reduce<C | null>((first, one) => (first === null || lateness(one) > lateness(first) ? one : first), null)
}
