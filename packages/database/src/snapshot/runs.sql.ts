import type { InstanceSelector } from '@slipway/domain'
import { statement } from '../sql/statement.ts'
import { array, int4, int8, jsonb, nullable, present, uuid } from '../sql/types.ts'

const selector = nullable(jsonb<InstanceSelector>())

// --- deployments without an instance -------------------------------------------------------------------------------

/**
 * SQL: the running deployments `d` without an instance: their last lease `l` ended because its instance was lost. The search
 * begins with lost leases, because these are few and deployments may be many.
 */
export const ORPHANS = `leases l JOIN deployments d ON d.id = l.deployment_id
  WHERE l.end_reason = 'lost' AND d.completed_at IS NULL
    AND NOT EXISTS (SELECT FROM leases later WHERE later.deployment_id = l.deployment_id AND later.epoch > l.epoch)`

/**
 * SQL: whether the lease `l` is the last one of such a deployment. The scalar subqueries make Postgres begin with the lost leases.
 * With the join of `ORPHANS` it reads every running deployment (goal: create throughput).
 */
export const IS_LAST_OF_ORPHAN = `l.end_reason = 'lost'
    AND (SELECT d.completed_at IS NULL FROM deployments d WHERE d.id = l.deployment_id)
    AND (SELECT true FROM leases later
          WHERE later.deployment_id = l.deployment_id AND later.epoch > l.epoch LIMIT 1) IS NULL`

/** SQL: whether there is such a deployment. */
export const ANY_ORPHAN = `EXISTS (SELECT FROM leases l WHERE ${IS_LAST_OF_ORPHAN})`

// --- checks of drift -----------------------------------------------------------------------------------------------

/** SQL: seconds between two checks of the row `c`; null: only on request. */
export const CHECK_INTERVAL = 'nullif(coalesce(c.interval_seconds, :every::int), 0)'

/** SQL: the checks `c` whose time has come. */
const WAITING_CHECKS = `release_checks c
     WHERE c.run_id IS NULL AND c.deployment_id IS NOT NULL AND c.next_at <= now()
       AND (c.requested OR ${CHECK_INTERVAL} IS NOT NULL)`

/**
 * SQL: those of them that may start. While a deployment changes the target, its check would tell of half a deployment. A disabled
 * target takes no commands.
 */
export const DUE_CHECKS = `${WAITING_CHECKS}
       AND (SELECT t.enabled FROM targets t WHERE t.id = c.target_id)
       AND (SELECT l.state IN ('running', 'rolling_back') FROM release_heads h
              JOIN releases l ON l.deployment_id = h.latest_deployment_id AND l.target_id = h.target_id
             WHERE h.target_id = c.target_id AND h.source_id = c.source_id) IS NOT TRUE`

/**
 * The deployments in force with checks that are due longest: at most `each` for each tenant and selector, so that none of them hides
 * the others. A check that somebody asked for is due since the epoch. Whether a check may start costs reads of other tables, so
 * Postgres reads them for one deployment after another: 30 ms with 100,000 checks due.
 */
export const findDueChecks = statement({
  name: 'database.snapshot.find-due-checks',
  parameters: { every: int4, each: int8, limit: int8 },
  row: { deployment_id: present(uuid), tenant_id: nullable(uuid), selector },
  sql: `WITH waiting AS MATERIALIZED (
      SELECT c.deployment_id, min(c.next_at) AS next_at FROM ${WAITING_CHECKS} GROUP BY c.deployment_id
    ), pools AS MATERIALIZED (
      SELECT d.tenant_id, d.plan_head -> 'instance_selector' AS selector,
             array_agg(w.deployment_id ORDER BY w.next_at, w.deployment_id) AS ids,
             array_agg(w.next_at ORDER BY w.next_at, w.deployment_id) AS times
        FROM waiting w LEFT JOIN deployments d ON d.id = w.deployment_id
       GROUP BY 1, 2)
    SELECT first.deployment_id, p.tenant_id, p.selector
      FROM pools p CROSS JOIN LATERAL (
        SELECT s.deployment_id, s.next_at FROM unnest(p.ids, p.times) AS s (deployment_id, next_at)
         WHERE (SELECT true FROM ${DUE_CHECKS} AND c.deployment_id = s.deployment_id LIMIT 1)
         LIMIT :each) first
     ORDER BY first.next_at, first.deployment_id LIMIT :limit`,
})

export const countRunningChecks = statement({
  name: 'database.snapshot.count-running-checks',
  parameters: { except: array(uuid) },
  row: { tenant_id: nullable(uuid), running: int8 },
  sql: `SELECT tenant_id, count(*) AS running FROM deployments
     WHERE is_check AND completed_at IS NULL AND id <> ALL (:except) GROUP BY tenant_id`,
})
