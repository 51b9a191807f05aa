/** An instance without a heartbeat for this time is lost: it gets no new runs, and its leases end. */
export const LOST_AFTER_SECONDS = 30
export const LOST_AFTER = `${LOST_AFTER_SECONDS} seconds`

/** SQL: whether an instance has the major and minor version of the parameter. */
export const hasVersion = (parameter: string) =>
  `split_part(version, '.', 1) || '.' || split_part(version, '.', 2) = ${parameter}`

/** SQL: whether an instance gets runs in its free slots. */
export const takesRuns = (versionParameter: string) =>
  `removed_at IS NULL AND NOT draining AND accepts_runs AND last_heartbeat_at > now() - interval '${LOST_AFTER}' AND ${hasVersion(versionParameter)}`

/**
 * SQL: whether the lease `l` is live, in a query by epoch or deployment. With `ended_at IS NULL`, Postgres may read all live leases
 * for each row, by statistics of a time when there were few (goal: drain of the queue).
 */
export const STILL_HELD = `coalesce(l.ended_at, 'infinity') = 'infinity'`
