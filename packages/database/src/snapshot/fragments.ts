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

/** SQL: each tenant and environment among the targets of a command now, once. */
export const placesOf = (command: string) =>
  `(SELECT coalesce(jsonb_agg(DISTINCT jsonb_build_object('tenant_id', t.tenant_id, 'environment_id', t.environment_id)), '[]')
      FROM targets t WHERE t.id IN (SELECT (target ->> 'id')::uuid FROM jsonb_array_elements(${command} #> '{plan,targets}') AS target))`

/** SQL: the key of the group of a request: requests of one group have the same freezes, limits and pools. */
export const groupKey = (subject: string, selector: string) =>
  `md5(${subject}::text || coalesce(${selector}::text, ''))::uuid`

/** SQL: whether the lock `k` holds. */
export const holds = (k: string) =>
  `(${k}.deployment_id IS NOT NULL AND target_lock_holds(${k}.epoch, ${k}.deployment_id))`

/** SQL: the policy of the target `t`, with its environment `e` and the settings `q`. */
export const POLICY = `coalesce(t.concurrency, e.concurrency, q.target_concurrency)`
export const WITH_POLICY = `LEFT JOIN environments e ON e.id = t.environment_id CROSS JOIN queue_settings q`

/** SQL: whether any target may have a policy other than `allow`. */
export const ANY_POLICY = `(SELECT q.target_concurrency <> 'allow' FROM queue_settings q)
  OR EXISTS (SELECT FROM targets WHERE concurrency <> 'allow')
  OR EXISTS (SELECT FROM environments WHERE concurrency <> 'allow')`

/** A point of priority is worth a hundred years, in milliseconds: age decides only among requests of equal priority. */
const PRIORITY_POINT_MS = 3_153_600_000_000

/**
 * SQL: the place of a request in the queue, the lowest first. It is the time at which the request was queued in milliseconds, and so
 * much earlier for each point of priority. One number, so that an index can follow.
 */
export const rankOf = (priority: string, queuedAt: string) =>
  `(floor(extract(epoch FROM ${queuedAt}) * 1000)::bigint - ${priority} * ${PRIORITY_POINT_MS})`
