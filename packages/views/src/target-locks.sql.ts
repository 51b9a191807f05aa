import {
  array,
  holds,
  int4,
  int8,
  jsonb,
  nullable,
  POLICY,
  statement,
  targetConcurrency,
  text,
  timestamptz,
  uuid,
  WITH_POLICY,
} from '@slipway/database'
import type { FreezeSubject } from '@slipway/domain'

/**
 * Who holds these targets, at most `limit` for each list, those held longest first. A deployment has an id only if it is of the
 * tenant of the list; a list without a tenant has all.
 */
export const findHolders = statement({
  name: 'views.target-locks.find-holders',
  parameters: { lists: array(int4), target_ids: array(uuid), tenant_ids: array(nullable(uuid)), limit: int8 },
  row: {
    list: int4,
    policy: targetConcurrency,
    target_id: uuid,
    target_name: text,
    deployment_id: nullable(uuid),
    since: timestamptz,
  },
  sql: `SELECT list, policy, target_id, target_name, deployment_id, since FROM (
      SELECT w.list, ${POLICY} AS policy, t.id AS target_id, t.name AS target_name, k.taken_at AS since,
             CASE WHEN w.tenant_id IS NULL OR d.tenant_id = w.tenant_id THEN k.deployment_id END AS deployment_id,
             row_number() OVER (PARTITION BY w.list ORDER BY k.taken_at, t.name, t.id) AS place
        FROM unnest(:lists::int[], :target_ids::uuid[], :tenant_ids::uuid[]) AS w (list, target_id, tenant_id)
        JOIN target_locks k ON k.target_id = w.target_id AND ${holds('k')}
        JOIN targets t ON t.id = w.target_id ${WITH_POLICY}
        LEFT JOIN deployments d ON d.id = k.deployment_id) held
     WHERE place <= :limit ORDER BY list, place`,
})

/**
 * What pending requests with locks wait for: held targets, at most `limit` for each request, and how many there are. A request that
 * waits for earlier ones alone has the first of these, with its freeze subject.
 */
export const findObstacles = statement({
  name: 'views.target-locks.find-obstacles',
  parameters: { ids: array(uuid), limit: int8 },
  row: {
    id: uuid,
    target_id: uuid,
    target_name: text,
    /** How many targets are held; null: none is, and an earlier request comes first. */
    held: nullable(int8),
    deployment_id: nullable(uuid),
    since: nullable(timestamptz),
    subject: nullable(jsonb<FreezeSubject>()),
  },
  sql: `SELECT p.id, o.* FROM pending_requests p
     CROSS JOIN LATERAL (
       (SELECT t.id AS target_id, t.name AS target_name, count(*) OVER () AS held,
               CASE WHEN p.tenant_id IS NULL OR d.tenant_id = p.tenant_id THEN k.deployment_id END AS deployment_id,
               k.taken_at AS since, NULL::jsonb AS subject
          FROM pending_targets n
          JOIN target_locks k ON k.target_id = n.target_id AND ${holds('k')}
          JOIN targets t ON t.id = n.target_id
          LEFT JOIN deployments d ON d.id = k.deployment_id
         WHERE n.request_id = p.id ORDER BY k.taken_at, t.name, t.id LIMIT :limit)
       UNION ALL
       (SELECT t.id, t.name, NULL, NULL, NULL, q.freeze_subject
          FROM pending_targets n
          JOIN targets t ON t.id = n.target_id
         CROSS JOIN LATERAL (
           SELECT b.request_id FROM pending_targets b
            WHERE b.target_id = n.target_id AND (b.rank, b.request_id) < (n.rank, n.request_id)
            ORDER BY b.rank, b.request_id LIMIT 1) before
          LEFT JOIN pending_requests q ON q.id = before.request_id
         WHERE n.request_id = p.id LIMIT 1)) o
    WHERE p.id = ANY (:ids)`,
})
