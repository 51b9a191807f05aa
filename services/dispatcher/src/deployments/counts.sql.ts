import { bool, int8, LOCK_KEYS, statement } from '@slipway/database'

/**
 * SQL: adds these deployments to the counts of lists (`1`), or takes them off (`-1`), as rows that `foldCounts` sums up. A counter
 * would make all writers wait for each other. Lists show no checks.
 */
export const countedRows = (deployments: string, change: '1' | '-1') =>
  `SELECT tenant_id, environment_id, source_type, state, ${change} AS n FROM ${deployments} WHERE NOT is_check`

/** SQL: stores what rows of `countedRows` add up to. */
export const storeCounts = (rows: string) =>
  `INSERT INTO deployment_counts (tenant_id, environment_id, source_type, state, count)
      SELECT tenant_id, environment_id, source_type, state, sum(n) FROM (${rows}) counted
       GROUP BY 1, 2, 3, 4 HAVING sum(n) <> 0`

/** One process at a time folds. */
export const lockFold = statement({
  name: 'dispatcher.deployment-counts.lock-fold',
  row: { locked: bool },
  sql: `SELECT pg_try_advisory_xact_lock(${LOCK_KEYS.foldDeploymentCounts}) AS locked`,
})

export const measureCounts = statement({
  name: 'dispatcher.deployment-counts.measure',
  row: { fresh: int8, kinds: int8 },
  sql: `SELECT count(*) FILTER (WHERE NOT folded) AS fresh, count(*) FILTER (WHERE folded) AS kinds FROM deployment_counts`,
})

/** Replaces the rows of each kind by one. Readers see the rows before or the row after, never both. */
export const foldRows = statement({
  name: 'dispatcher.deployment-counts.fold',
  sql: `WITH taken AS (DELETE FROM deployment_counts RETURNING *)
    INSERT INTO deployment_counts (tenant_id, environment_id, source_type, state, count, folded)
    SELECT tenant_id, environment_id, source_type, state, sum(count), true FROM taken
     GROUP BY 1, 2, 3, 4 HAVING sum(count) <> 0`,
})
