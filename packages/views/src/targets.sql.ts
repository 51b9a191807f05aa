import { array, nullable, oneOf, statement, text, timestamptz, uuid } from '@slipway/database'
import { LOST_AFTER } from './instances.ts'

/** Without contact for this time, a target is no longer shown as online. */
export const REACHED_FOR = '90 seconds'

/** SQL: the status of a target by its `last_seen_at`. */
export const targetStatus = (onlineFor = `interval '${REACHED_FOR}'`) =>
  `CASE WHEN last_seen_at > now() - ${onlineFor} THEN 'online'
        WHEN last_seen_at > now() - interval '10 min' THEN 'stale'
        ELSE 'offline' END`

/**
 * The time of the last contact with each target, and its status by the clock of the database. Local and simulated targets have
 * no contact: they are online while an instance is. `host_key` is the pinned key of an SSH host.
 */
export const findSightings = statement({
  name: 'views.targets.find-sightings',
  parameters: { ids: array(uuid) },
  row: {
    id: uuid,
    host_key: nullable(text),
    last_seen_at: nullable(timestamptz),
    status: oneOf('text', ['online', 'stale', 'offline']),
  },
  sql: `WITH seen AS (
      SELECT t.id, f.host_key, t.connection ->> 'type' IN ('local', 'simulated') AS is_local,
        CASE WHEN t.connection ->> 'type' IN ('local', 'simulated') THEN (SELECT max(last_heartbeat_at) FROM instances)
             ELSE f.last_seen_at END AS last_seen_at
      FROM targets t LEFT JOIN target_facts f ON f.target_id = t.id
      WHERE t.id = ANY (:ids))
    SELECT id, host_key, last_seen_at,
      ${targetStatus(`CASE WHEN is_local THEN interval '${LOST_AFTER}' ELSE interval '${REACHED_FOR}' END`)} AS status
    FROM seen`,
})
