import { array, int4, int8, nullable, statement, text, timestamptz, uuid } from '@slipway/database'

/** SQL: whether the lock `k` holds. */
export const holds = (k: string) => `target_lock_holds(${k}.epoch, ${k}.deployment_id)`

/** SQL: the policy of the target `t`, with its environment `e` and the settings `q`. */
export const POLICY = `coalesce(t.concurrency, e.concurrency, q.target_concurrency)`
export const WITH_POLICY = `LEFT JOIN environments e ON e.id = t.environment_id CROSS JOIN queue_settings q`

/** SQL: whether any target may have a policy other than `allow`. */
export const ANY_POLICY = `(SELECT q.target_concurrency <> 'allow' FROM queue_settings q)
  OR EXISTS (SELECT FROM targets WHERE concurrency <> 'allow')
  OR EXISTS (SELECT FROM environments WHERE concurrency <> 'allow')`

/**
 * Who holds these targets, at most `limit` for each list, those held longest first. A deployment has an id only if it is of the
 * tenant of the list; a list without a tenant has all.
 */
export const findHolders = statement({
  name: 'views.target-locks.find-holders',
  parameters: { lists: array(int4), target_ids: array(uuid), tenant_ids: array(nullable(uuid)), limit: int8 },
  row: {
    list: int4,
    target_id: uuid,
    target_name: text,
    deployment_id: nullable(uuid),
    since: timestamptz,
  },
  sql: `SELECT list, target_id, target_name, deployment_id, since FROM (
      SELECT w.list, t.id AS target_id, t.name AS target_name, k.taken_at AS since,
             CASE WHEN w.tenant_id IS NULL OR d.tenant_id = w.tenant_id THEN k.deployment_id END AS deployment_id,
             row_number() OVER (PARTITION BY w.list ORDER BY k.taken_at, t.name, t.id) AS place
        FROM unnest(:lists::int[], :target_ids::uuid[], :tenant_ids::uuid[]) AS w (list, target_id, tenant_id)
        JOIN target_locks k ON k.target_id = w.target_id AND ${holds('k')}
        JOIN targets t ON t.id = w.target_id
        LEFT JOIN deployments d ON d.id = k.deployment_id) held
     WHERE place <= :limit ORDER BY list, place`,
})
