import { isoTime, jsonObject } from './json.ts'

/** After this long without a heartbeat an instance counts as lost: it gets nothing new and its leases end. */
export const LOST_AFTER = '30 seconds'

/** An instance as lists show it, from `instances` as `i`. */
export const INSTANCE = jsonObject({
  id: 'i.id',
  name: 'i.name',
  version: 'i.version',
  status: `CASE WHEN i.last_heartbeat_at IS NULL OR i.last_heartbeat_at < now() - interval '${LOST_AFTER}' THEN 'offline'
    WHEN i.draining THEN 'draining' ELSE 'online' END`,
  capacity: 'i.capacity',
  active: '(SELECT count(*) FROM leases l WHERE l.instance_id = i.id AND l.ended_at IS NULL)',
  draining: 'i.draining',
  last_heartbeat_at: isoTime('i.last_heartbeat_at'),
  labels: 'i.labels',
  created_at: isoTime('i.created_at'),
})
