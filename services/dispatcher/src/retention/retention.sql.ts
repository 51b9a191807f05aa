import { array, bool, int4, int8, LOCK_KEYS, statement, text, uuid } from '@slipway/database'
import { countedRows, storeCounts } from '../deployments/counts.sql.ts'

/** The most rows that one statement deletes. The caller repeats the statement until it deletes fewer. */
export const MOST_ROWS = { chunks: 1_000, requests: 1_000, results: 5_000, remains: 10_000, releases: 10_000 }
/** Deployments of one transaction. */
export const BATCH = 200
export const FOUND_AT_ONCE = 20_000

// --- one process at a time -----------------------------------------------------------------------------------------

export const takeRetentionLock = statement({
  name: 'dispatcher.retention.take-lock',
  row: { locked: bool },
  sql: `SELECT pg_try_advisory_lock(${LOCK_KEYS.retention}) AS locked`,
})

export const releaseRetentionLock = statement({
  name: 'dispatcher.retention.release-lock',
  sql: `SELECT FROM pg_advisory_unlock(${LOCK_KEYS.retention})`,
})

// --- deployments ---------------------------------------------------------------------------------------------------

/** Ended deployments that are old enough to go and are not among the latest of their source and environment. */
const OLD = `SELECT id, total_steps, created_at FROM (
      SELECT id, total_steps, created_at, completed_at,
             row_number() OVER (PARTITION BY source_id, environment_id ORDER BY created_at DESC, id DESC) AS place
        FROM deployments) d
     WHERE completed_at < now() - make_interval(days => :days) AND place > :keep`

const OLD_REQUESTS = `status IN ('dispatched', 'cancelled', 'failed') AND created_at < now() - make_interval(days => :days)`

export const countOld = statement({
  name: 'dispatcher.retention.count-deployments',
  parameters: { days: int4, keep: int8 },
  row: { deployments: int8, steps: int8 },
  sql: `SELECT count(*) AS deployments, coalesce(sum(total_steps), 0)::bigint AS steps FROM (${OLD}) o`,
})

/** A cheap check before `findOldDeployments`, which reads all deployments. */
export const hasOld = statement({
  name: 'dispatcher.retention.has-old-deployments',
  parameters: { days: int4 },
  row: { has: bool },
  sql: 'SELECT EXISTS (SELECT FROM deployments WHERE created_at < now() - make_interval(days => :days)) AS has',
})

export const findOldDeployments = statement({
  name: 'dispatcher.retention.find-deployments',
  parameters: { days: int4, keep: int8 },
  row: { id: uuid },
  sql: `SELECT id FROM (${OLD}) o ORDER BY created_at LIMIT ${FOUND_AT_ONCE}`,
})

export const lockEnded = statement({
  name: 'dispatcher.retention.lock-deployments',
  parameters: { ids: array(uuid) },
  row: { id: uuid },
  sql: 'SELECT id FROM deployments WHERE id = ANY (:ids) AND completed_at IS NOT NULL ORDER BY id FOR UPDATE SKIP LOCKED',
})

/** Records the deleted deployments, so that their steps, results and log lines are found and deleted later. */
export const noteDropped = statement({
  name: 'dispatcher.retention.note-dropped',
  parameters: { ids: array(uuid) },
  sql: 'INSERT INTO dropped_deployments (id) SELECT unnest(:ids::uuid[]) ON CONFLICT DO NOTHING',
})

/** Deletes deployments, and the tables with few rows for each of them. */
export const DELETE_DEPLOYMENTS = [
  statement({
    name: 'dispatcher.retention.delete-leases',
    parameters: { ids: array(uuid) },
    sql: 'DELETE FROM leases WHERE deployment_id = ANY (:ids)',
  }),
  statement({
    name: 'dispatcher.retention.delete-run-progress',
    parameters: { ids: array(uuid) },
    sql: 'DELETE FROM run_progress WHERE deployment_id = ANY (:ids)',
  }),
  statement({
    name: 'dispatcher.retention.delete-deployments',
    parameters: { ids: array(uuid) },
    sql: `WITH deleted AS (
        DELETE FROM deployments WHERE id = ANY (:ids) RETURNING tenant_id, environment_id, source_type, state, is_check)
      ${storeCounts(countedRows('deleted', '-1'))}`,
  }),
]

// --- rows of deleted deployments ------------------------------------------------------------------------------------

export const findDropped = statement({
  name: 'dispatcher.retention.find-dropped',
  parameters: { except: array(uuid) },
  row: { id: uuid },
  sql: `SELECT id FROM dropped_deployments WHERE id <> ALL(:except) ORDER BY id LIMIT ${BATCH}`,
})

export const lockDropped = statement({
  name: 'dispatcher.retention.lock-dropped',
  parameters: { ids: array(uuid) },
  row: { id: uuid },
  sql: 'SELECT id FROM dropped_deployments WHERE id = ANY(:ids) ORDER BY id FOR UPDATE SKIP LOCKED',
})

const deleteRemains = (table: string, key: string, most: number) => ({
  most,
  statement: statement({
    name: `dispatcher.retention.delete-${table.replace('_', '-')}`,
    parameters: { ids: array(uuid) },
    sql: `DELETE FROM ${table}
       WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE deployment_id = ANY (:ids) LIMIT ${most})`,
  }),
})

/** Tables with many rows for a deployment. One transaction deletes at most `most` rows of each. */
export const DELETE_REMAINS = [
  deleteRemains('steps', 'deployment_id, target_index, action_index', MOST_ROWS.remains),
  deleteRemains('command_results', 'deployment_id, target_index, action_index', MOST_ROWS.remains),
  deleteRemains('log_chunks', 'deployment_id, first_line, created_at', MOST_ROWS.chunks),
]

export const forgetDropped = statement({
  name: 'dispatcher.retention.forget-dropped',
  parameters: { ids: array(uuid) },
  sql: 'DELETE FROM dropped_deployments WHERE id = ANY (:ids)',
})

// --- releases -------------------------------------------------------------------------------------------------------

export const deleteHeadsOfDeletedTargets = statement({
  name: 'dispatcher.retention.delete-release-heads',
  sql: `DELETE FROM release_heads h WHERE NOT EXISTS (SELECT FROM targets t WHERE t.id = h.target_id)`,
})

/**
 * Deletes releases of deleted deployments. Keeps the release that is in force, the latest one, and the one that the release in
 * force replaced: a rollback brings that one back.
 */
export const deleteOldReleases = statement({
  name: 'dispatcher.retention.delete-releases',
  sql: `DELETE FROM releases WHERE (deployment_id, target_id) IN (
      SELECT r.deployment_id, r.target_id FROM releases r
       WHERE NOT EXISTS (SELECT FROM deployments d WHERE d.id = r.deployment_id)
         AND NOT EXISTS (
           SELECT FROM release_heads h
             LEFT JOIN releases c ON c.deployment_id = h.current_deployment_id AND c.target_id = h.target_id
            WHERE h.target_id = r.target_id AND h.source_id = r.source_id
              AND r.deployment_id IN (h.current_deployment_id, h.latest_deployment_id, c.replaced_deployment_id))
       LIMIT ${MOST_ROWS.releases})`,
})

// --- requests, results and log lines -------------------------------------------------------------------------------

export const countOldRequests = statement({
  name: 'dispatcher.retention.count-requests',
  parameters: { days: int4 },
  row: { count: int8 },
  sql: `SELECT count(*) AS count FROM pending_requests WHERE ${OLD_REQUESTS}`,
})

export const deleteOldRequests = statement({
  name: 'dispatcher.retention.delete-requests',
  parameters: { days: int4 },
  sql: `DELETE FROM pending_requests WHERE id IN (
      SELECT id FROM pending_requests WHERE ${OLD_REQUESTS} LIMIT ${MOST_ROWS.requests} FOR UPDATE SKIP LOCKED)`,
})

const OLD_RESULT = `r.completed_at < now() - make_interval(days => :days) AND d.completed_at IS NOT NULL`

export const countResults = statement({
  name: 'dispatcher.retention.count-results',
  parameters: { days: int4 },
  row: { count: int8 },
  sql: `SELECT count(*) AS count FROM command_results r JOIN deployments d ON d.id = r.deployment_id
     WHERE ${OLD_RESULT}`,
})

export const deleteResults = statement({
  name: 'dispatcher.retention.delete-results',
  parameters: { days: int4 },
  sql: `DELETE FROM command_results WHERE (deployment_id, target_index, action_index) IN (
      SELECT r.deployment_id, r.target_index, r.action_index FROM command_results r
        JOIN deployments d ON d.id = r.deployment_id
       WHERE ${OLD_RESULT} LIMIT ${MOST_ROWS.results})`,
})

/**
 * Days that are older than `days`, oldest first. Stops before the oldest deployment that is still running, because the log of a
 * running deployment must stay complete.
 */
export const findDays = statement({
  name: 'dispatcher.retention.find-days',
  parameters: { days: int4 },
  row: { partition: text, day: text, bytes: int8 },
  sql: `SELECT p.partition, p.day::text, pg_total_relation_size(p.partition::regclass) AS bytes
      FROM (SELECT c.relname::text AS partition, to_date(right(c.relname, 8), 'YYYYMMDD') AS day
              FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
             WHERE i.inhparent = 'log_chunks'::regclass AND c.relname ~ '^log_chunks_[0-9]{8}$') p
     WHERE (p.day + 1)::timestamp AT TIME ZONE 'UTC' <= least(
             now() - make_interval(days => :days),
             (SELECT min(created_at) FROM deployments WHERE completed_at IS NULL))
     ORDER BY p.day`,
})

/** Waits at most one second for its lock: every reader and writer of log lines waits behind it. */
export const dropPartition = statement({
  name: 'dispatcher.retention.drop-partition',
  parameters: { day: text, days: int4 },
  sql: 'SELECT FROM drop_log_partition(:day::text::date, :days)',
})

/** Deletes old lines from the default partition, which holds the lines of days without a partition. */
export const deleteStrays = statement({
  name: 'dispatcher.retention.delete-strays',
  parameters: { days: int4 },
  sql: `DELETE FROM log_chunks WHERE (deployment_id, first_line, created_at) IN (
      SELECT c.deployment_id, c.first_line, c.created_at FROM log_chunks c
       WHERE c.tableoid = 'log_chunks_default'::regclass AND c.created_at < least(
               now() - make_interval(days => :days),
               (SELECT min(created_at) FROM deployments WHERE completed_at IS NULL))
       LIMIT ${MOST_ROWS.chunks})`,
})
