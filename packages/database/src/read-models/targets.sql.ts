import { LOST_AFTER } from '../snapshot/fragments.ts'
import { statement } from '../sql/statement.ts'
import { array, nullable, oneOf, text, timestamptz, uuid } from '../sql/types.ts'

/** Without contact for this time, a target is no longer shown as online. */
export const REACHED_FOR = '90 seconds'

/** SQL: the status of a target by its `last_seen_at`. */
export const targetStatus = (onlineFor = `interval '${REACHED_FOR}'`) =>
  `CASE WHEN last_seen_at > now() - ${onlineFor} THEN 'online'
        WHEN last_seen_at > now() - interval '10 min' THEN 'stale'
        ELSE 'offline' END`

/** SQL: the target `t` has no contact of its own. It is online while an instance is. */
const IS_LOCAL = `(t.connection ->> 'type' IN ('local', 'simulated'))`
const LAST_HEARTBEAT = '(SELECT max(last_heartbeat_at) FROM instances)'
const STATUS = targetStatus(`CASE WHEN is_local THEN interval '${LOST_AFTER}' ELSE interval '${REACHED_FOR}' END`)

/** SQL: the last contact with the target `t`. */
export const LAST_SEEN_OF_TARGET = `CASE WHEN ${IS_LOCAL} THEN ${LAST_HEARTBEAT}
           ELSE (SELECT f.last_seen_at FROM target_facts f WHERE f.target_id = t.id) END`

/** SQL: the status of the target `t`, by the clock of the database. */
export const STATUS_OF_TARGET = `(SELECT ${STATUS} FROM (SELECT ${IS_LOCAL} AS is_local,
      ${LAST_SEEN_OF_TARGET} AS last_seen_at) seen)`

/** SQL: the attempts to reach a target have failed since the last contact. */
const IS_FAILING = `(NOT ${IS_LOCAL} AND f.failing_since > coalesce(f.last_seen_at, '-infinity'))`

/** The last contact with each target, its status, and the last error since then. `host_key` is the pinned key of an SSH host. */
export const findSightings = statement({
  name: 'database.targets.find-sightings',
  parameters: { ids: array(uuid) },
  row: {
    id: uuid,
    host_key: nullable(text),
    last_seen_at: nullable(timestamptz),
    last_error: nullable(text),
    failing_since: nullable(timestamptz),
    status: oneOf('text', ['online', 'stale', 'offline']),
  },
  sql: `WITH seen AS (
      SELECT t.id, f.host_key, ${IS_LOCAL} AS is_local, ${IS_FAILING} AS is_failing, f.last_error, f.failing_since,
        CASE WHEN ${IS_LOCAL} THEN ${LAST_HEARTBEAT} ELSE f.last_seen_at END AS last_seen_at
      FROM targets t LEFT JOIN target_facts f ON f.target_id = t.id
      WHERE t.id = ANY (:ids))
    SELECT id, host_key, last_seen_at, CASE WHEN is_failing THEN last_error END AS last_error,
      CASE WHEN is_failing THEN failing_since END AS failing_since, ${STATUS} AS status FROM seen`,
})
