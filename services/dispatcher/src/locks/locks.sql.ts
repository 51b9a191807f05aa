import {
  ANY_POLICY,
  array,
  bool,
  holds,
  int4,
  int8,
  jsonb,
  nullable,
  POLICY,
  statement,
  targetConcurrency,
  text,
  uuid,
  WITH_POLICY,
} from '@slipway/database'
import type { InstanceSelector } from '@slipway/domain'

export const isAnyPolicy = statement({
  name: 'dispatcher.target-locks.any-policy',
  row: { any: bool },
  sql: `SELECT ${ANY_POLICY} AS any`,
})

/** SQL: whether the pending request `p` waits for targets or a slot alone. Others reserve nothing: they would block without limit. */
const RESERVES = `(p.last_retry_at IS NULL OR p.last_retry_at < now() - make_interval(secs => p.retry_count))
  AND (:freeze_keys::uuid[] IS NULL OR p.freeze_key = ANY (:freeze_keys))
  AND (p.tenant_id IS NULL OR p.tenant_id <> ALL (:full_tenants::uuid[]))`

/** The requests that reserve targets: of these freeze subjects (null: of all), and not of tenants at their limit. */
const RESERVING = { freeze_keys: nullable(array(uuid)), full_tenants: array(uuid) }

/**
 * The targets with a policy other than `allow` in each list, by the records as they are now, grouped by their policy and by whether
 * they are held or reserved by a pending request of the same or an earlier rank (null: by none).
 */
export const findLocked = statement({
  name: 'dispatcher.target-locks.find-locked',
  parameters: { lists: jsonb<readonly { rank: number | null; target_ids: readonly string[] }[]>(), ...RESERVING },
  row: { list: int8, policy: targetConcurrency, held: bool, reserved: bool, target_ids: array(uuid) },
  sql: `SELECT list, policy, held, reserved, array_agg(target_id) AS target_ids
      FROM (
        SELECT w.list, w.target_id, ${POLICY} AS policy, coalesce(${holds('k')}, false) AS held,
               w.rank IS NOT NULL AND EXISTS (
                 SELECT FROM pending_targets n JOIN pending_requests p ON p.id = n.request_id
                  WHERE n.target_id = w.target_id AND n.rank <= w.rank AND ${RESERVES}) AS reserved
          FROM (
            SELECT l.list, l.rank, unnest(l.target_ids) AS target_id
              FROM ROWS FROM (jsonb_to_recordset(:lists::jsonb) AS (rank bigint, target_ids uuid[]))
                   WITH ORDINALITY AS l (rank, target_ids, list)) w
          JOIN targets t ON t.id = w.target_id ${WITH_POLICY}
          LEFT JOIN target_locks k ON k.target_id = w.target_id
         WHERE ${POLICY} <> 'allow') wanted
     GROUP BY list, policy, held, reserved`,
})

/**
 * Takes locks in the order of their targets, so that transactions cannot deadlock. Waits for a transaction that changes one of
 * them. Overwrites what was left behind. Writes fewer rows if another deployment holds one.
 */
export const takeLocks = statement({
  name: 'dispatcher.target-locks.take',
  parameters: {
    deployments: jsonb<readonly { deployment_id: string; epoch: number; target_ids: readonly string[] }[]>(),
  },
  sql: `INSERT INTO target_locks (target_id, deployment_id, epoch)
    SELECT unnest(target_ids) AS target_id, deployment_id, epoch
      FROM jsonb_to_recordset(:deployments::jsonb) AS d (deployment_id uuid, epoch bigint, target_ids uuid[])
     ORDER BY target_id
    ON CONFLICT (target_id) DO UPDATE SET deployment_id = EXCLUDED.deployment_id, epoch = EXCLUDED.epoch,
      taken_at = EXCLUDED.taken_at
    WHERE NOT ${holds('target_locks')}`,
})

/** The locks of parts that are not over go with the deployment to its new lease. */
export const moveLocks = statement({
  name: 'dispatcher.target-locks.move',
  parameters: { deployment_ids: array(uuid), epochs: array(int8) },
  sql: `UPDATE target_locks k SET epoch = n.epoch
      FROM unnest(:deployment_ids::uuid[], :epochs::bigint[]) AS n (deployment_id, epoch)
      JOIN deployments d ON d.id = n.deployment_id AND d.locks_targets
      JOIN deployment_targets p ON p.deployment_id = n.deployment_id
     WHERE k.target_id = p.target_id AND k.deployment_id = n.deployment_id`,
})

/** Releases the locks of deployments that were stopped and whose instance never told that their commands are gone. */
export const dropLeftLocks = statement({
  name: 'dispatcher.target-locks.drop-left',
  sql: `UPDATE target_locks k SET deployment_id = NULL, epoch = NULL FROM leases l
     WHERE l.epoch = k.epoch AND l.ended_at < now() - interval '1 minute' AND NOT ${holds('k')}`,
})

// --- targets that pending requests need -----------------------------------------------------------------------------

/** Replaces what pending requests need. Requests that need nothing lose their mark. */
export const replaceWanted = statement({
  name: 'dispatcher.pending-targets.replace',
  parameters: { request_ids: array(uuid), target_ids: array(uuid), all_ids: array(uuid) },
  sql: `WITH wanted AS (
      SELECT n.request_id, n.target_id, p.rank
        FROM unnest(:request_ids::uuid[], :target_ids::uuid[]) AS n (request_id, target_id)
        JOIN pending_requests p ON p.id = n.request_id
    ), gone AS (
      DELETE FROM pending_targets o WHERE o.request_id = ANY (:all_ids)
         AND NOT EXISTS (SELECT FROM wanted n WHERE n.request_id = o.request_id AND n.target_id = o.target_id)
    ), added AS (
      INSERT INTO pending_targets (request_id, target_id, rank) SELECT * FROM wanted
      ON CONFLICT (request_id, target_id) DO NOTHING
    )
    UPDATE pending_requests p SET wants_targets = EXISTS (SELECT FROM wanted n WHERE n.request_id = p.id)
     WHERE p.id = ANY (:all_ids)`,
})

/** The targets that these requests wait for. */
export const findWanted = statement({
  name: 'dispatcher.pending-targets.find',
  parameters: { request_ids: array(uuid) },
  row: { request_id: uuid, target_id: uuid },
  sql: 'SELECT request_id, target_id FROM pending_targets WHERE request_id = ANY (:request_ids)',
})

/** SQL: each target once that a request waits for. Reads one index entry per target, however long the queue is. */
const WANTED = `wanted (target_id) AS (
    (SELECT target_id FROM pending_targets ORDER BY target_id LIMIT 1)
    UNION ALL
    SELECT next.target_id FROM wanted CROSS JOIN LATERAL (
      SELECT n.target_id FROM pending_targets n WHERE n.target_id > wanted.target_id ORDER BY n.target_id LIMIT 1) next)`

/** Deletes what requests no longer need, because the policy of the target has become `allow` since, or the target is gone. */
export const dropUnlocked = statement({
  name: 'dispatcher.pending-targets.drop-unlocked',
  row: { request_id: uuid },
  sql: `WITH RECURSIVE ${WANTED}
    DELETE FROM pending_targets n WHERE n.target_id IN (
      SELECT wanted.target_id FROM wanted LEFT JOIN targets t ON t.id = wanted.target_id ${WITH_POLICY}
       WHERE t.id IS NULL OR ${POLICY} = 'allow')
    RETURNING n.request_id`,
})

export const unmarkRequests = statement({
  name: 'dispatcher.pending-targets.unmark',
  parameters: { request_ids: array(uuid) },
  sql: `UPDATE pending_requests p SET wants_targets = false
     WHERE p.id = ANY (:request_ids) AND NOT EXISTS (SELECT FROM pending_targets n WHERE n.request_id = p.id)`,
})

/**
 * The requests that need locks and may start, of these freeze subjects (null: of all): none of their targets is held, and each
 * request comes first for each of its targets among those that reserve it.
 */
export const findStartable = statement({
  name: 'dispatcher.pending-targets.find-startable',
  parameters: { ...RESERVING, max_rank: int8, tenant_id: nullable(uuid), limit: int8, keys: nullable(array(uuid)) },
  row: {
    ...{ id: uuid, rank: int8, tenant_id: nullable(uuid), size: int4 },
    selector: nullable(jsonb<InstanceSelector>()),
  },
  sql: `WITH RECURSIVE ${WANTED}, heads AS (
      SELECT first.request_id, count(*) AS targets
        FROM wanted CROSS JOIN LATERAL (
          SELECT n.request_id FROM pending_targets n JOIN pending_requests p ON p.id = n.request_id
           WHERE n.target_id = wanted.target_id AND ${RESERVES} ORDER BY n.rank, n.request_id LIMIT 1) first
       WHERE NOT EXISTS (SELECT FROM target_locks k WHERE k.target_id = wanted.target_id AND ${holds('k')})
       GROUP BY first.request_id
    )
    SELECT p.id, p.rank, p.tenant_id, pg_column_size(p.command) AS size, p.instance_selector AS selector
      FROM heads h JOIN pending_requests p ON p.id = h.request_id
     WHERE h.targets = (SELECT count(*) FROM pending_targets n WHERE n.request_id = p.id)
       AND p.status = 'pending' AND p.rank <= :max_rank AND (:tenant_id::uuid IS NULL OR p.tenant_id = :tenant_id)
       AND (:keys::uuid[] IS NULL OR p.freeze_key = ANY (:keys))
     ORDER BY p.rank, p.id LIMIT :limit`,
})

/**
 * Cancels the pending requests that a newer one replaces: of the same source and tenant, with no target that is not among these.
 * Skips requests that are being dispatched.
 */
export const supersedeRequests = statement({
  name: 'dispatcher.pending-targets.supersede',
  parameters: {
    ...{ target_ids: array(uuid), source_id: uuid, tenant_id: nullable(uuid) },
    ...{ by: uuid, message: text },
  },
  row: { id: uuid, tenant_id: nullable(uuid), queued_at: text },
  sql: `WITH older AS (
      SELECT p.id FROM pending_requests p
       WHERE p.id IN (SELECT n.request_id FROM pending_targets n WHERE n.target_id = ANY (:target_ids))
         AND p.status = 'pending' AND p.source_id = :source_id AND p.tenant_id IS NOT DISTINCT FROM :tenant_id::uuid
         AND p.target_count = (SELECT count(*) FROM pending_targets n
                                WHERE n.request_id = p.id AND n.target_id = ANY (:target_ids))
       ORDER BY p.id FOR UPDATE SKIP LOCKED
    )
    UPDATE pending_requests p SET status = 'cancelled', superseded_by = :by, error_message = :message
      FROM older WHERE p.id = older.id
    RETURNING p.id, p.tenant_id, p.queued_at::text AS queued_at`,
})

export const countLocks = statement({
  name: 'dispatcher.target-locks.count',
  row: { locks: int8, waiting: int8 },
  sql: `SELECT (SELECT count(*) FROM target_locks k WHERE ${holds('k')}) AS locks,
           (SELECT count(*) FROM pending_requests WHERE status = 'pending' AND wants_targets) AS waiting`,
})
