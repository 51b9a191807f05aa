import type { Queryable } from '@slipway/database'

/**
 * The deployments `d` that somebody should be running and nobody is: the last lease `l` was lost with its instance. It is
 * in the rows, not in a process's memory, so any dispatcher finds them. Read from the lost leases, which are few: there
 * may be any number of deployments.
 */
export const ORPHANS = `leases l JOIN deployments d ON d.id = l.deployment_id
  WHERE l.end_reason = 'lost' AND d.completed_at IS NULL
    AND NOT EXISTS (SELECT FROM leases later WHERE later.deployment_id = l.deployment_id AND later.epoch > l.epoch)`

/**
 * SQL: whether there is one. From the lost leases on, whatever the plan: by a join it may read all that runs. CASE keeps the
 * order of what is asked, which costs tell wrongly while there are no leases: every lease was looked for behind every other.
 */
export const ANY_ORPHAN = `EXISTS (SELECT FROM leases l
  WHERE l.end_reason = 'lost' AND CASE WHEN l.end_reason = 'lost'
    THEN (SELECT d.completed_at IS NULL FROM deployments d WHERE d.id = l.deployment_id)
         AND (SELECT true FROM leases later
               WHERE later.deployment_id = l.deployment_id AND later.epoch > l.epoch LIMIT 1) IS NULL END)`

export async function anyOrphan(tx: Queryable): Promise<boolean> {
  const { rows } = await tx.query<{ any: boolean }>(`SELECT ${ANY_ORPHAN} AS any`, [])
  return rows[0]?.any ?? false
}
