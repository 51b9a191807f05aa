import { array, float8, int4, int8, jsonb, nullable, present, statement, text, uuid } from '@slipway/database'
import type { InstanceSelector } from '@slipway/domain'
import { ownSql } from '@slipway/views'

/** SQL: seconds between two checks of the row `c`; null: only on request. */
const INTERVAL = 'nullif(coalesce(c.interval_seconds, :every::int), 0)'

/** SQL: the checks `c` whose time has come. */
const WAITING = `release_checks c
     WHERE c.run_id IS NULL AND c.deployment_id IS NOT NULL AND c.next_at <= now()
       AND (c.requested OR ${INTERVAL} IS NOT NULL)`

/**
 * SQL: those of them that may start. While a deployment changes the target, its check would tell of half a deployment. A disabled
 * target takes no commands.
 */
const DUE = `${WAITING}
       AND (SELECT t.enabled FROM targets t WHERE t.id = c.target_id)
       AND (SELECT l.state IN ('running', 'rolling_back') FROM release_heads h
              JOIN releases l ON l.deployment_id = h.latest_deployment_id AND l.target_id = h.target_id
             WHERE h.target_id = c.target_id AND h.source_id = c.source_id) IS NOT TRUE`

/** Plans the first check of releases that came into force. All targets of a deployment have the same time, each deployment its own. */
export const schedule = statement({
  name: 'dispatcher.drift.schedule',
  parameters: { every: int4, limit: int8 },
  sql: `UPDATE release_checks c
       SET next_at = now() + make_interval(secs => ${INTERVAL} * (0.5 + (hashtext(c.deployment_id::text) & 1023) / 2048.0))
     WHERE (c.target_id, c.source_id) IN (
       SELECT c.target_id, c.source_id FROM release_checks c
        WHERE c.next_at IS NULL AND c.deployment_id IS NOT NULL AND ${INTERVAL} IS NOT NULL
        LIMIT :limit FOR UPDATE SKIP LOCKED)`,
})

/**
 * The deployments in force with checks that are due longest. A check that somebody asked for is due since the epoch. Without
 * deployments of the tenants `except` (an empty text: without tenant), and without those with a selector of `full`. Whether a check
 * may start costs reads of other tables, so Postgres reads them for one deployment after another, until `limit` are found: 30 ms with 100,000
 * checks due.
 */
export const findDue = statement({
  name: 'dispatcher.drift.find-due',
  parameters: { every: int4, limit: int8, except: array(text), full: array(jsonb<InstanceSelector>()) },
  row: { deployment_id: present(uuid), tenant_id: nullable(uuid), selector: nullable(jsonb<InstanceSelector>()) },
  sql: `WITH waiting AS MATERIALIZED (
      SELECT c.deployment_id, min(c.next_at) AS next_at FROM ${WAITING} GROUP BY c.deployment_id
    ), sorted AS (
      SELECT w.deployment_id, d.tenant_id, d.plan_head -> 'instance_selector' AS selector
        FROM waiting w LEFT JOIN deployments d ON d.id = w.deployment_id
       WHERE coalesce(d.tenant_id::text, '') <> ALL (:except::text[])
         AND coalesce(d.plan_head -> 'instance_selector', 'null') <> ALL (:full::jsonb[])
       ORDER BY w.next_at, w.deployment_id OFFSET 0)
    SELECT s.deployment_id, s.tenant_id, s.selector FROM sorted s
     WHERE (SELECT true FROM ${DUE} AND c.deployment_id = s.deployment_id LIMIT 1)
     LIMIT :limit`,
})

/** Takes the due checks of a deployment for this run. Only one dispatcher gets each. */
export const claim = statement({
  name: 'dispatcher.drift.claim',
  parameters: { deployment_id: uuid, run_id: uuid, every: int4, spread: float8, limit: int8 },
  sql: `UPDATE release_checks c
       SET run_id = :run_id, requested = false, next_at = now() + make_interval(secs => ${INTERVAL} * :spread::float8)
     WHERE (c.target_id, c.source_id) IN (
       SELECT c.target_id, c.source_id FROM ${DUE} AND c.deployment_id = :deployment_id
        ORDER BY c.target_id LIMIT :limit FOR UPDATE OF c SKIP LOCKED)`,
})

export const countRunningChecks = statement({
  name: 'dispatcher.drift.count-running',
  row: { tenant_id: nullable(uuid), running: int8 },
  sql: 'SELECT tenant_id, count(*) AS running FROM deployments WHERE is_check AND completed_at IS NULL GROUP BY tenant_id',
})

/** Makes checks of releases in force due before all others. Null: any tenant, source or target. */
export const requestChecks = statement({
  name: 'dispatcher.drift.request',
  parameters: { tenant_id: nullable(uuid), source_id: nullable(uuid), target_ids: nullable(array(uuid)) },
  sql: `UPDATE release_checks c SET requested = true, next_at = 'epoch'
      FROM release_heads h
      JOIN releases r ON r.deployment_id = h.current_deployment_id AND r.target_id = h.target_id
     WHERE h.target_id = c.target_id AND h.source_id = c.source_id AND c.deployment_id IS NOT NULL
       AND ${ownSql('r')}
       AND (:source_id::uuid IS NULL OR c.source_id = :source_id)
       AND (:target_ids::uuid[] IS NULL OR c.target_id = ANY (:target_ids))`,
})
