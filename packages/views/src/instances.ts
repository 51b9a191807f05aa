import { isoTime, jsonObject } from './json.ts'

/** After this long without a heartbeat an instance counts as lost: it gets nothing new and its leases end. */
export const LOST_AFTER_SECONDS = 30
export const LOST_AFTER = `${LOST_AFTER_SECONDS} seconds`

/** Whether an instance is of the version, major and minor, that the parameter names, such as `$1`. */
export const hasVersion = (parameter: string) =>
  `split_part(version, '.', 1) || '.' || split_part(version, '.', 2) = ${parameter}`

/** Whether an instance of `instances` is given runs where it has a free slot. Which ones: `servesTenant`. */
export const takesRuns = (versionParameter: string) =>
  `removed_at IS NULL AND NOT draining AND accepts_runs AND last_heartbeat_at > now() - interval '${LOST_AFTER}' AND ${hasVersion(versionParameter)}`

/** Whether an instance of `instances` may run deployments of the tenant that the parameter names; null: of no tenant. */
export const servesTenant = (tenantParameter: string) => `(tenant_id IS NULL OR tenant_id = ${tenantParameter}::uuid)`

/**
 * Whether the lease `l`, which is found by its epoch or deployment, is live. Not `ended_at IS NULL`: where few were live when
 * the table was last analyzed, the index of all live ones would be read for each of thousands that are by now.
 */
export const STILL_HELD = `coalesce(l.ended_at, 'infinity') = 'infinity'`

/** Whether the lease `l` ended before its run did, so that its commands were killed. */
const WAS_STOPPED = `l.ended_at IS NOT NULL AND l.end_reason NOT IN ('finished', 'lost')`

/**
 * Whether the instance of the lease `l` may still send output of the commands that were killed. Enough time to hear of the
 * stop without a wake-up (5 s), to kill (10 s) and to send.
 */
export const TAKES_LAST_OUTPUT = `${WAS_STOPPED} AND l.stopped_at IS NULL AND l.ended_at > now() - interval '20 seconds'`

/**
 * Whether output may still be added under the lease `l` to the run with the progress `p`. Longer than output is taken, so
 * that a batch in progress is waited for. Before the first event nothing ran.
 */
export const AWAITS_LAST_OUTPUT = `${WAS_STOPPED} AND l.stopped_at IS NULL AND l.ended_at > now() - interval '25 seconds'
  AND l.epoch = p.epoch AND p.next_event > 0`

/** What the instance `i` is. */
export const INSTANCE_STATUS = `CASE WHEN i.last_heartbeat_at IS NULL
      OR i.last_heartbeat_at < now() - interval '${LOST_AFTER}' THEN 'offline'
    WHEN i.draining THEN 'draining' ELSE 'online' END`

/** An instance as lists show it, from `instances` as `i`. */
export const INSTANCE = jsonObject({
  id: 'i.id',
  name: 'i.name',
  version: 'i.version',
  status: INSTANCE_STATUS,
  capacity: 'i.capacity',
  active: '(SELECT count(*) FROM leases l WHERE l.instance_id = i.id AND l.ended_at IS NULL)',
  draining: 'i.draining',
  last_heartbeat_at: isoTime('i.last_heartbeat_at'),
  labels: 'i.labels',
  allowed_labels: 'i.allowed_labels',
  tenant_id: 'i.tenant_id',
  created_at: isoTime('i.created_at'),
})
