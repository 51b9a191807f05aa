/** Without ageing a point of priority is worth a hundred years: age decides among equals alone. */
const CENTURY_SECONDS = 3_153_600_000

/**
 * SQL: the place of a request in the queue, the lowest first. It is the time at which the request was queued in milliseconds, and so
 * much earlier for each point of priority. One number, so that an index can follow.
 */
export const rankOf = (priority: string, queuedAt: string) =>
  `(floor(extract(epoch FROM ${queuedAt}) * 1000)::bigint - ${priority} * 1000
      * (SELECT coalesce(ageing_seconds, ${CENTURY_SECONDS}) FROM queue_settings))`
