import type { Queryable } from '@slipway/database'

/**
 * Condition for deployments `d` that somebody should be running and nobody is: their instance was lost. It is in the
 * rows, not in a process's memory, so any dispatcher finds them.
 */
export const IS_ORPHAN = `d.state IN ('running', 'rolling_back')
  AND NOT EXISTS (SELECT FROM leases l WHERE l.deployment_id = d.id AND l.ended_at IS NULL)`

export async function anyOrphan(tx: Queryable): Promise<boolean> {
  const { rowCount } = await tx.query(`SELECT FROM deployments d WHERE ${IS_ORPHAN} LIMIT 1`)
  return rowCount === 1
}
