import type { FreezeSubject, InstanceSelector } from '@slipway/domain'
import { statement } from '../sql/statement.ts'
import { array, bool, int4, int8, json, nullable, uuid } from '../sql/types.ts'
import { ANY_POLICY } from './fragments.ts'
import { ALL_RULES, PARKED, type StoredRules } from './rules.sql.ts'
import { IS_LAST_OF_ORPHAN } from './runs.sql.ts'

const nextGroup = (bound: string) =>
  `(SELECT freeze_key, freeze_subject, instance_selector FROM pending_requests
     WHERE status = 'pending' AND rank < ${PARKED} ${bound} ORDER BY freeze_key LIMIT 1)`

/** A deployment without an instance. */
export interface Orphan {
  id: string
  tenant_id: string | null
  selector: InstanceSelector | null
}

/** Pending requests that freezes, limits and pools treat alike. */
export interface GroupRow {
  key: string
  subject: FreezeSubject
  selector: InstanceSelector | null
}

/**
 * What every decision needs, in one statement: each statement more costs a create 0.1 ms.
 *
 * `any_policy`: a target may have to be locked. `running`: the running deployments of each tenant, counted only if there is a limit.
 * `orphans`: in the order in which they go on, by priority, then by age; at most `limit` of each pool, so that those that no instance
 * matches hide no other. `groups`: reads one index entry per group, so the cost does not grow with the queue (goal: drain with many
 * pending).
 */
export const findFacts = statement({
  name: 'database.snapshot.find-facts',
  parameters: { prepared: array(uuid), held_orphans: array(uuid), limit: int8 },
  row: {
    tenant_limit: nullable(int4),
    any_policy: bool,
    running: nullable(json<Record<string, number>>()),
    orphans: nullable(json<Orphan[]>()),
    groups: nullable(json<GroupRow[]>()),
    rules: nullable(json<StoredRules[]>()),
  },
  sql: `WITH RECURSIVE found (key, subject, selector) AS (
      ${nextGroup('')}
      UNION ALL
      SELECT next.* FROM found CROSS JOIN LATERAL ${nextGroup('AND freeze_key > found.key')} next
    )
    SELECT s.tenant_running_limit AS tenant_limit, (SELECT ${ANY_POLICY}) AS any_policy,
           CASE WHEN s.tenant_running_limit IS NOT NULL THEN (
             SELECT json_object_agg(r.tenant_id, r.running)
               FROM (SELECT tenant_id, count(*) AS running FROM deployments
                      WHERE completed_at IS NULL AND NOT is_check AND tenant_id IS NOT NULL AND id <> ALL (:prepared)
                      GROUP BY tenant_id) r) END AS running,
           (SELECT json_agg(json_build_object('id', o.id, 'tenant_id', o.tenant_id, 'selector', o.selector) ORDER BY o.place) FROM (
              SELECT d.id, d.tenant_id, d.plan_head -> 'instance_selector' AS selector, row_number() OVER queue AS place,
                     row_number() OVER (PARTITION BY d.tenant_id, d.plan_head -> 'instance_selector' ORDER BY
                       (d.plan_head #>> '{options,priority}')::int DESC, d.created_at, d.id) AS place_in_pool
                FROM (SELECT l.deployment_id FROM leases l WHERE ${IS_LAST_OF_ORPHAN} OFFSET 0) lost
                JOIN deployments d ON d.id = lost.deployment_id
               WHERE d.id <> ALL (:held_orphans)
              WINDOW queue AS (ORDER BY (d.plan_head #>> '{options,priority}')::int DESC, d.created_at, d.id)
             ) o WHERE o.place_in_pool <= :limit) AS orphans,
           (SELECT json_agg(json_build_object('key', key, 'subject', subject, 'selector', selector)) FROM found) AS groups,
           ${ALL_RULES} AS rules
      FROM queue_settings s`,
})
