import { bool, int8, nullable, statement, text, timestamptz, uuid } from '@slipway/database'

const BATCH = 100
/** The end of what a check wrote, as far as it is kept. */
const MESSAGE_CHARACTERS = 1_000
/** The instance learns from its lease how its run ended, so the lease stays for a while. */
const KEPT_FOR = '1 minute'

/** Checks that have ended and whose results are not recorded. */
export const findEndedRuns = statement({
  name: 'dispatcher.drift.find-ended-runs',
  row: { id: uuid, began_at: timestamptz },
  sql: `SELECT d.id, d.created_at AS began_at FROM deployments d
     WHERE d.is_check AND d.completed_at IS NOT NULL
       AND EXISTS (SELECT FROM release_checks c WHERE c.run_id = d.id)
     ORDER BY d.id LIMIT ${BATCH}`,
})

const HAS_DRIFTED = `(s.state = 'failed' AND s.exit_code IS NOT DISTINCT FROM 1)`
const OUTPUT = `nullif(btrim(right(concat(r.stdout_tail, r.stderr_tail), ${MESSAGE_CHARACTERS}), E' \\n'), '')`

/**
 * Records the results of a check on the rows that still wait for it. If another release came into force during the check, a trigger
 * has taken the row from the check. If a deployment began after the check, the results are ignored. A check that could not run does
 * not end the drift. The next call handles rows that are locked now.
 */
export const recordResults = statement({
  name: 'dispatcher.drift.record-results',
  parameters: { run_id: uuid, began_at: timestamptz },
  row: { result: nullable(text) },
  sql: `WITH waiting AS (
      SELECT c.target_id, c.source_id FROM release_checks c WHERE c.run_id = :run_id
       ORDER BY c.target_id, c.source_id FOR UPDATE SKIP LOCKED
    ), found AS (
      SELECT t.target_id,
             CASE WHEN bool_or(${HAS_DRIFTED}) THEN 'drifted' WHEN bool_and(s.state = 'completed') THEN 'in_sync'
                  ELSE 'unknown' END AS result,
             (array_agg(concat_ws(': ', a.action_name,
                 CASE WHEN NOT ${HAS_DRIFTED} THEN coalesce(s.error_message, 'the check did not run') END, ${OUTPUT})
               ORDER BY ${HAS_DRIFTED} DESC, s.action_index) FILTER (WHERE s.state <> 'completed'))[1] AS message
        FROM deployment_targets t
        JOIN steps s ON s.deployment_id = t.deployment_id AND s.target_index = t.target_index
        JOIN deployment_actions a ON a.deployment_id = s.deployment_id AND a.action_index = s.action_index
        LEFT JOIN command_results r ON r.deployment_id = s.deployment_id AND r.target_index = s.target_index
                                   AND r.action_index = s.action_index
       WHERE t.deployment_id = :run_id GROUP BY t.target_id
    ), valid AS (
      SELECT w.target_id, w.source_id, f.result, f.message
        FROM waiting w LEFT JOIN found f ON f.target_id = w.target_id AND NOT EXISTS (
          SELECT FROM releases l WHERE l.target_id = w.target_id AND l.source_id = w.source_id
             AND (l.begun_at >= :began_at::timestamptz OR l.state IN ('running', 'rolling_back'))))
    UPDATE release_checks c
       SET run_id = NULL, result = coalesce(v.result, c.result),
           message = CASE WHEN v.result IS NULL THEN c.message ELSE v.message END,
           checked_at = CASE WHEN v.result IS NULL THEN c.checked_at ELSE clock_timestamp() END,
           drifted_since = CASE v.result WHEN 'drifted' THEN coalesce(c.drifted_since, clock_timestamp())
                                         WHEN 'in_sync' THEN NULL ELSE c.drifted_since END,
           in_sync_since = CASE WHEN v.result = 'in_sync' AND c.drifted_since IS NOT NULL THEN clock_timestamp()
                                ELSE c.in_sync_since END
      FROM valid v WHERE c.target_id = v.target_id AND c.source_id = v.source_id AND c.run_id = :run_id
    RETURNING v.result`,
})

/** Checks whose results are recorded, for some time. */
export const findRecordedRuns = statement({
  name: 'dispatcher.drift.find-recorded-runs',
  row: { id: uuid },
  sql: `SELECT d.id FROM deployments d
     WHERE d.is_check AND d.completed_at < now() - interval '${KEPT_FOR}'
       AND NOT EXISTS (SELECT FROM release_checks c WHERE c.run_id = d.id)
     ORDER BY d.id LIMIT ${BATCH}`,
})

/** Notes for each release that has drifted, or no longer, that an event tells of it. */
export const claimDriftChanges = statement({
  name: 'dispatcher.drift.claim-changes',
  row: { id: uuid, has_drifted: bool, tenant_id: nullable(uuid) },
  sql: `WITH changed AS (
      SELECT c.id FROM release_checks c WHERE (c.drifted_since IS NOT NULL) <> c.told_drifted
       ORDER BY c.id LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
    UPDATE release_checks c SET told_drifted = c.drifted_since IS NOT NULL FROM changed WHERE c.id = changed.id
    RETURNING c.id, c.told_drifted AS has_drifted, (
      SELECT r.tenant_id FROM release_heads h
        JOIN releases r ON r.deployment_id = coalesce(h.current_deployment_id, h.latest_deployment_id) AND r.target_id = h.target_id
       WHERE h.target_id = c.target_id AND h.source_id = c.source_id) AS tenant_id`,
})

export const countDrifted = statement({
  name: 'dispatcher.drift.count-drifted',
  row: { drifted: int8 },
  sql: 'SELECT count(*) AS drifted FROM release_checks WHERE drifted_since IS NOT NULL',
})
