import { LOST_AFTER } from '../snapshot/fragments.ts'
import { isoTime, jsonObject } from './json.ts'

/** SQL: whether the lease `l` ended before its run did. The instance then kills the commands. */
const WAS_STOPPED = `l.ended_at IS NOT NULL AND l.end_reason NOT IN ('finished', 'lost')`

/**
 * SQL: whether the instance of the lease `l` may still send output of killed commands. 20 s are enough to learn of the stop
 * without a wake-up (5 s), to kill (10 s) and to send.
 */
export const TAKES_LAST_OUTPUT = `${WAS_STOPPED} AND l.stopped_at IS NULL AND l.ended_at > now() - interval '20 seconds'`

/**
 * SQL: whether the run with the progress `p` may still get output under the lease `l`. 5 s longer than TAKES_LAST_OUTPUT, for a
 * batch in progress. Before its first event, a run has no output.
 */
export const AWAITS_LAST_OUTPUT = `${WAS_STOPPED} AND l.stopped_at IS NULL AND l.ended_at > now() - interval '25 seconds'
  AND l.epoch = p.epoch AND p.next_event > 0`

/** SQL: the status of the instance `i`. */
export const INSTANCE_STATUS = `CASE WHEN i.last_heartbeat_at IS NULL
      OR i.last_heartbeat_at < now() - interval '${LOST_AFTER}' THEN 'offline'
    WHEN i.draining THEN 'draining' ELSE 'online' END`

/** SQL: the list item of the instance `i`. */
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
