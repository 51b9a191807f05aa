/** A point of priority is worth a hundred years, in milliseconds: age decides only among requests of equal priority. */
const PRIORITY_POINT_MS = 3_153_600_000_000

/**
 * SQL: the place of a request in the queue, the lowest first. It is the time at which the request was queued in milliseconds, and so
 * much earlier for each point of priority. One number, so that an index can follow.
 */
export const rankOf = (priority: string, queuedAt: string) =>
  `(floor(extract(epoch FROM ${queuedAt}) * 1000)::bigint - ${priority} * ${PRIORITY_POINT_MS})`
