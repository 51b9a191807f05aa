import {
  array,
  EACH_REQUESTED,
  holds,
  int8,
  jsonb,
  POLICY,
  present,
  rowSet,
  statement,
  uuid,
  WITH_POLICY,
} from '@slipway/database'

/** The targets of each list with a policy other than `allow`, by the records as they are now. */
export const findLocked = statement({
  name: 'dispatcher.target-locks.find-locked',
  parameters: { lists: jsonb<readonly { target_ids: readonly string[] }[]>() },
  row: { list: int8, target_ids: array(uuid) },
  sql: `SELECT w.list, array_agg(w.target_id) AS target_ids
      FROM (SELECT l.list, unnest(l.target_ids) AS target_id
              FROM ROWS FROM (jsonb_to_recordset(:lists::jsonb) AS (target_ids uuid[])) WITH ORDINALITY AS l (target_ids, list)) w
      JOIN targets t ON t.id = w.target_id ${WITH_POLICY}
     WHERE ${POLICY} <> 'allow' GROUP BY w.list`,
})

/**
 * Takes locks in the order of their targets, so that transactions cannot deadlock. Waits for a transaction that changes one of
 * them. Overwrites what was left behind. Returns how many each deployment took: fewer if another one holds a target.
 */
export const takeLocks = statement({
  name: 'dispatcher.target-locks.take',
  parameters: {
    deployments: jsonb<readonly { deployment_id: string; epoch: number; target_ids: readonly string[] }[]>(),
  },
  row: { deployment_id: present(uuid), taken: int8 },
  sql: `WITH taken AS (
      INSERT INTO target_locks (target_id, deployment_id, epoch)
      SELECT unnest(target_ids) AS target_id, deployment_id, epoch
        FROM jsonb_to_recordset(:deployments::jsonb) AS d (deployment_id uuid, epoch bigint, target_ids uuid[])
       ORDER BY target_id
      ON CONFLICT (target_id) DO UPDATE SET deployment_id = EXCLUDED.deployment_id, epoch = EXCLUDED.epoch,
        taken_at = EXCLUDED.taken_at
      WHERE NOT ${holds('target_locks')}
      RETURNING deployment_id)
    SELECT deployment_id, count(*) AS taken FROM taken GROUP BY deployment_id`,
})

/** The locks of parts that are not over go with the deployment to its new lease. */
export const moveLocks = statement({
  name: 'dispatcher.target-locks.move',
  parameters: { leases: rowSet({ deployment_id: uuid, epoch: int8 }) },
  sql: `UPDATE target_locks k SET epoch = n.epoch
      FROM :leases AS n
      JOIN deployments d ON d.id = n.deployment_id AND d.locks_targets
      JOIN deployment_targets p ON p.deployment_id = n.deployment_id
     WHERE k.target_id = p.target_id AND k.deployment_id = n.deployment_id`,
})

/** Releases the locks of deployments that were stopped and whose instance never reported that their commands are gone. */
export const dropLeftLocks = statement({
  name: 'dispatcher.target-locks.drop-left',
  sql: `UPDATE target_locks k SET deployment_id = NULL, epoch = NULL FROM leases l
     WHERE l.epoch = k.epoch AND l.ended_at < now() - interval '1 minute' AND NOT ${holds('k')}`,
})

// --- targets that pending requests need -----------------------------------------------------------------------------

/** Replaces what pending requests need. Requests that need nothing lose their mark. */
export const replaceWanted = statement({
  name: 'dispatcher.pending-targets.replace',
  parameters: { requested: rowSet({ request_id: uuid, target_id: uuid }), all_ids: array(uuid) },
  sql: `WITH requested AS (
      SELECT n.request_id, n.target_id, p.rank
        FROM :requested AS n
        JOIN pending_requests p ON p.id = n.request_id
    ), gone AS (
      DELETE FROM pending_targets o WHERE o.request_id = ANY (:all_ids)
         AND NOT EXISTS (SELECT FROM requested n WHERE n.request_id = o.request_id AND n.target_id = o.target_id)
    ), added AS (
      INSERT INTO pending_targets (request_id, target_id, rank) SELECT * FROM requested
      ON CONFLICT (request_id, target_id) DO NOTHING
    )
    UPDATE pending_requests p SET wants_targets = EXISTS (SELECT FROM requested n WHERE n.request_id = p.id)
     WHERE p.id = ANY (:all_ids)`,
})

/** The targets that these requests wait for. */
export const findWanted = statement({
  name: 'dispatcher.pending-targets.find',
  parameters: { request_ids: array(uuid) },
  row: { request_id: uuid, target_id: uuid },
  sql: 'SELECT request_id, target_id FROM pending_targets WHERE request_id = ANY (:request_ids)',
})

/** Deletes what requests no longer need, because the policy of the target has become `allow` since, or the target is gone. */
export const dropUnlocked = statement({
  name: 'dispatcher.pending-targets.drop-unlocked',
  sql: `WITH RECURSIVE ${EACH_REQUESTED}, dropped AS (
      DELETE FROM pending_targets n WHERE n.target_id IN (
        SELECT requested.target_id FROM requested LEFT JOIN targets t ON t.id = requested.target_id ${WITH_POLICY}
         WHERE t.id IS NULL OR ${POLICY} = 'allow')
      RETURNING n.request_id, n.target_id)
    UPDATE pending_requests p SET wants_targets = false
     WHERE p.id IN (SELECT request_id FROM dropped)
       AND NOT EXISTS (SELECT FROM pending_targets n WHERE n.request_id = p.id
                          AND NOT EXISTS (SELECT FROM dropped d WHERE d.request_id = n.request_id AND d.target_id = n.target_id))`,
})

export const countLocks = statement({
  name: 'dispatcher.target-locks.count',
  row: { locks: int8, waiting: int8 },
  sql: `SELECT (SELECT count(*) FROM target_locks k WHERE ${holds('k')}) AS locks,
           (SELECT count(*) FROM pending_requests WHERE status = 'pending' AND wants_targets) AS waiting`,
})
