import { FAILURE_STRATEGIES, RELEASE_STATES, ROLLBACK_STRATEGIES, STEP_STATES } from '@slipway/domain'
import { rowSet, statement } from '../sql/statement.ts'
import { array, bool, deploymentState, int4, nullable, oneOf, releaseState, timestamptz, uuid } from '../sql/types.ts'

const states = array(oneOf('text', STEP_STATES))

const PART = {
  deployment_id: uuid,
  target_index: int4,
  target_id: uuid,
  is_locked: bool,
  at: timestamptz,
  release: nullable(releaseState),
  states,
  revertible_states: states,
  was_stopped: bool,
  started_at: nullable(timestamptz),
  last_end_at: nullable(timestamptz),
}

/**
 * SQL: reads these parts. LATERAL, LIMIT and OFFSET 0: on tables without statistics, a join reads all steps of the deployment (goal:
 * step transitions).
 */
const readParts = (touched: string) => `SELECT p.deployment_id, p.target_index, p.target_id, p.release, s.*,
           EXISTS (SELECT FROM target_locks k WHERE k.target_id = p.target_id AND k.deployment_id = p.deployment_id) AS is_locked,
           clock_timestamp() AS at
      FROM (${touched} OFFSET 0) p
     CROSS JOIN LATERAL (
       SELECT coalesce(array_agg(DISTINCT s.state), '{}')::text[] AS states,
              coalesce(array_agg(DISTINCT s.state) FILTER (WHERE a.has_rollback), '{}')::text[] AS revertible_states,
              coalesce(bool_or(s.state = 'cancelled' AND s.started_at IS NOT NULL), false) AS was_stopped,
              min(s.started_at) AS started_at, max(s.completed_at) AS last_end_at
         FROM steps s JOIN deployment_actions a ON a.deployment_id = s.deployment_id AND a.action_index = s.action_index
        WHERE s.deployment_id = p.deployment_id AND s.target_index = p.target_index) s`

const RELEASE = `LEFT JOIN LATERAL (
      SELECT r.state AS release FROM releases r
       WHERE r.deployment_id = t.deployment_id AND r.target_id = t.target_id LIMIT 1) r ON true`

const OPEN_RELEASES = `('running', 'rolling_back')`

/**
 * The parts of a deployment on these targets. Leaves out a part that has begun, has its last step ahead, and was not `reverted`:
 * it stays open and its release stays running. Without this, each event of a plan with many actions reads all steps of a target.
 */
export const findTouchedParts = statement({
  name: 'database.parts.find-touched',
  parameters: { deployment_id: uuid, targets: rowSet({ target_index: int4, reverted: bool }) },
  row: PART,
  sql: readParts(`SELECT t.*, r.release
      FROM :targets AS c
     CROSS JOIN LATERAL (
       SELECT t.deployment_id, t.target_index, t.target_id FROM deployment_targets t
        WHERE t.deployment_id = :deployment_id AND t.target_index = c.target_index LIMIT 1) t
     ${RELEASE}
     WHERE c.reverted OR r.release IS DISTINCT FROM 'running' OR (
       SELECT s.state FROM steps s WHERE s.deployment_id = t.deployment_id AND s.target_index = t.target_index
        ORDER BY s.action_index DESC LIMIT 1) NOT IN ('pending', 'running')`),
})

/** The parts of deployments that have begun and are not over: with an open release, or with a lock that is still held. */
export const findOpenParts = statement({
  name: 'database.parts.find-open',
  parameters: { deployment_ids: array(uuid) },
  row: PART,
  sql: readParts(`SELECT t.deployment_id, t.target_index, t.target_id, o.release
      FROM (
        SELECT r.deployment_id, r.target_id, r.state AS release FROM releases r
         WHERE r.deployment_id = ANY (:deployment_ids) AND r.state IN ${OPEN_RELEASES}
        UNION ALL
        SELECT p.deployment_id, p.target_id, r.state
          FROM deployments d
          JOIN deployment_targets p ON p.deployment_id = d.id
          JOIN target_locks k ON k.target_id = p.target_id AND k.deployment_id = d.id
          LEFT JOIN releases r ON r.deployment_id = d.id AND r.target_id = p.target_id
         WHERE d.id = ANY (:deployment_ids) AND d.locks_targets AND d.completed_at IS NULL
           AND (r.state IS NULL OR r.state NOT IN ${OPEN_RELEASES})) o
     CROSS JOIN LATERAL (
       SELECT t.* FROM deployment_targets t
        WHERE t.target_id = o.target_id AND t.deployment_id = o.deployment_id LIMIT 1) t`),
})

export const findAllParts = statement({
  name: 'database.parts.find-all',
  parameters: { deployment_ids: array(uuid) },
  row: PART,
  sql: readParts(`SELECT t.deployment_id, t.target_index, t.target_id, r.release FROM deployment_targets t ${RELEASE}
     WHERE t.deployment_id = ANY (:deployment_ids)`),
})

/** What the rules of `@slipway/engine` ask of the deployments. */
export const findDeploymentsOfParts = statement({
  name: 'database.parts.find-deployments',
  parameters: { ids: array(uuid) },
  row: {
    id: uuid,
    source_id: uuid,
    state: deploymentState,
    is_over: bool,
    is_check: bool,
    failure_strategy: oneOf('text', FAILURE_STRATEGIES),
    rollback_strategy: oneOf('text', ROLLBACK_STRATEGIES),
  },
  sql: `SELECT id, source_id, state, completed_at IS NOT NULL AS is_over, is_check,
           plan_head #>> '{options,failure_strategy}' AS failure_strategy,
           plan_head #>> '{options,rollback_strategy}' AS rollback_strategy
      FROM deployments WHERE id = ANY (:ids)`,
})

const HEADS = { heads: rowSet({ target_id: uuid, source_id: uuid }) }

/** Adds missing heads. The order is the same everywhere, so that transactions for the same targets cannot deadlock. */
export const addHeads = statement({
  name: 'database.release-heads.add',
  parameters: HEADS,
  sql: `INSERT INTO release_heads (target_id, source_id)
    SELECT DISTINCT p.target_id, p.source_id FROM :heads AS p
     WHERE NOT EXISTS (SELECT FROM release_heads h WHERE h.target_id = p.target_id AND h.source_id = p.source_id)
     ORDER BY 1, 2
    ON CONFLICT DO NOTHING`,
})

/** Locks heads, so that each transaction sees the releases of the one before. */
export const lockHeads = statement({
  name: 'database.release-heads.lock',
  parameters: HEADS,
  sql: `SELECT FROM release_heads h JOIN (SELECT DISTINCT p.target_id, p.source_id FROM :heads AS p) p
        ON h.target_id = p.target_id AND h.source_id = p.source_id
     ORDER BY h.target_id, h.source_id FOR UPDATE OF h`,
})

/** Writes releases. A release that is known keeps its start and what it replaced. */
export const putReleases = statement({
  name: 'database.releases.put',
  parameters: {
    releases: rowSet({
      deployment_id: uuid,
      target_index: int4,
      state: oneOf('text', RELEASE_STATES),
      begun_at: timestamptz,
      ended_at: nullable(timestamptz),
    }),
  },
  sql: `INSERT INTO releases (deployment_id, target_id, tenant_id, environment_id, source_type, source_id, source_name,
      source_version, variant, values_hash, state, triggered_by, begun_at, ended_at, replaced_deployment_id)
    SELECT d.id, t.target_id, d.tenant_id, d.environment_id, d.source_type, d.source_id, d.source_name, d.source_version,
           d.variant, t.values_hash, p.state::release_state, d.triggered_by, p.begun_at, p.ended_at, h.current_deployment_id
      FROM :releases AS p
      JOIN deployments d ON d.id = p.deployment_id
      JOIN deployment_targets t ON t.deployment_id = p.deployment_id AND t.target_index = p.target_index
      JOIN release_heads h ON h.target_id = t.target_id AND h.source_id = d.source_id
    ON CONFLICT (deployment_id, target_id) DO UPDATE SET state = EXCLUDED.state, ended_at = EXCLUDED.ended_at`,
})

/**
 * Sets which release of a source is in force on a target, and which one is the latest. If another release is in force now, what
 * a check has found no longer holds, and a check that still runs finds no row to write to. Most sources have no check, and no row.
 */
export const moveHeads = statement({
  name: 'database.release-heads.move',
  parameters: { ...HEADS, in_force: oneOf('release_state', RELEASE_STATES) },
  sql: `WITH head AS (
      SELECT h.target_id, h.source_id, h.current_deployment_id AS before,
             (SELECT r.deployment_id FROM releases r
               WHERE r.target_id = h.target_id AND r.source_id = h.source_id AND r.state = :in_force::release_state
               ORDER BY r.ended_at DESC, r.deployment_id DESC LIMIT 1) AS current_id,
             (SELECT r.deployment_id FROM releases r WHERE r.target_id = h.target_id AND r.source_id = h.source_id
               ORDER BY r.begun_at DESC, r.deployment_id DESC LIMIT 1) AS latest_id
        FROM (SELECT DISTINCT p.target_id, p.source_id FROM :heads AS p) p
        JOIN release_heads h ON h.target_id = p.target_id AND h.source_id = p.source_id
    ), moved AS (
      UPDATE release_heads h SET current_deployment_id = n.current_id, latest_deployment_id = n.latest_id,
             current_since = CASE WHEN n.before IS NOT DISTINCT FROM n.current_id OR EXISTS (
               SELECT FROM releases a JOIN releases b ON b.target_id = a.target_id AND b.deployment_id = n.current_id
                WHERE a.target_id = h.target_id AND a.deployment_id = n.before AND a.source_version = b.source_version
                  AND a.variant IS NOT DISTINCT FROM b.variant) THEN h.current_since ELSE clock_timestamp() END
        FROM head n
       WHERE h.target_id = n.target_id AND h.source_id = n.source_id
         AND (h.current_deployment_id IS DISTINCT FROM n.current_id OR h.latest_deployment_id IS DISTINCT FROM n.latest_id)
      RETURNING h.target_id, h.source_id, n.before, n.current_id
    ), changed AS (
      SELECT target_id, source_id, current_id FROM moved WHERE before IS DISTINCT FROM current_id
    ), declared AS (
      SELECT a.deployment_id AS id, min((v.definition #>> '{check,interval_seconds}')::int) AS interval_seconds
        FROM (SELECT DISTINCT current_id FROM changed) c
        JOIN deployment_actions a ON a.deployment_id = c.current_id
        JOIN source_versions v ON v.source_id = a.action_id AND v.version = a.action_version AND v.definition ? 'check'
       GROUP BY 1
    )
    INSERT INTO release_checks (target_id, source_id, deployment_id, interval_seconds)
    SELECT c.target_id, c.source_id, d.id, d.interval_seconds
      FROM changed c LEFT JOIN declared d ON d.id = c.current_id
     WHERE d.id IS NOT NULL
        OR EXISTS (SELECT FROM release_checks k WHERE k.target_id = c.target_id AND k.source_id = c.source_id)
     ORDER BY c.target_id, c.source_id
    ON CONFLICT (target_id, source_id) DO UPDATE SET deployment_id = EXCLUDED.deployment_id,
      interval_seconds = EXCLUDED.interval_seconds, next_at = NULL, requested = false, run_id = NULL, result = NULL,
      checked_at = NULL, message = NULL, drifted_since = NULL,
      in_sync_since = CASE WHEN release_checks.drifted_since IS NULL THEN release_checks.in_sync_since ELSE clock_timestamp() END`,
})

/** Releases locks of parts that are over. `is_wanted`: whether a pending request waits for the target. */
export const freeLocks = statement({
  name: 'database.target-locks.free',
  parameters: { parts: rowSet({ deployment_id: uuid, target_id: uuid }) },
  row: { instance_id: uuid, is_wanted: bool },
  sql: `WITH held AS (
      SELECT k.target_id, k.epoch FROM target_locks k
        JOIN :parts AS p
          ON k.target_id = p.target_id AND k.deployment_id = p.deployment_id
       ORDER BY k.target_id FOR UPDATE OF k
    ), freed AS (
      UPDATE target_locks k SET deployment_id = NULL, epoch = NULL FROM held WHERE k.target_id = held.target_id
      RETURNING held.target_id, held.epoch
    )
    SELECT l.instance_id, bool_or(EXISTS (SELECT FROM pending_targets w WHERE w.target_id = f.target_id)) AS is_wanted
      FROM freed f JOIN leases l ON l.epoch = f.epoch GROUP BY 1`,
})
