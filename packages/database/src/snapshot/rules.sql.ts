import type { EnvironmentRules } from '@slipway/domain'
import { bindings, bindingsSql } from '../access/subjects.sql.ts'
import { statement } from '../sql/statement.ts'
import { array, bool, int4, int8, json, jsonb, nullable, sourceKind, text, timestamptz, uuid } from '../sql/types.ts'
import { rankOf } from './fragments.ts'

/** A request that is parked has this rank: behind all others, so that no search of the queue finds it. */
export const PARKED = Number.MAX_SAFE_INTEGER

/** SQL: what the rules of environments ask about the pending request `p`. */
export const TERMS = `p.queued_at, p.start_at, p.expires_at, p.overrides_rules, p.author_id, p.author_key_id, p.source_id,
           p.source_type, p.source_version, p.variant`
export const TERMS_ROW = {
  queued_at: timestamptz,
  start_at: nullable(timestamptz),
  expires_at: nullable(timestamptz),
  overrides_rules: bool,
  author_id: nullable(uuid),
  author_key_id: nullable(uuid),
  source_id: uuid,
  source_type: sourceKind,
  source_version: text,
  variant: nullable(text),
}

/** An environment with its rules as they are stored. */
export interface StoredRules {
  id: string
  name: string
  tenant_id: string | null
  rules: EnvironmentRules
  role_name: string | null
  from_environment_name: string | null
}

/** SQL: all environments with rules, as JSON. */
export const ALL_RULES = `(SELECT json_agg(json_build_object('id', e.id, 'name', e.name, 'tenant_id', e.tenant_id, 'rules', e.rules,
      'role_name', (SELECT r.name FROM roles r WHERE r.id = (e.rules #>> '{approvals,role}')::uuid),
      'from_environment_name', (SELECT f.name FROM environments f WHERE f.id = (e.rules #>> '{promotion,from_environment_id}')::uuid)))
    FROM environments e WHERE e.rules <> '{}')`

/**
 * Which pending requests are due for a look although nobody changed anything: they expire, or what parks them may be over. In the order
 * in which they became due, then in that of the queue.
 */
export const findDue = statement({
  name: 'database.snapshot.find-due',
  parameters: { limit: int8 },
  row: { id: uuid, steps: int4 },
  sql: `SELECT p.id, p.step_count AS steps FROM pending_requests p
     WHERE p.status = 'pending' AND p.review_at IS NOT NULL AND p.review_at <= now()
     ORDER BY p.review_at, ${rankOf('p.priority', 'p.queued_at')}, p.id LIMIT :limit`,
})

/** The approvals of requests in the order in which they were given, with the rights that their users have now. */
export const findApprovals = statement({
  name: 'database.snapshot.find-approvals',
  parameters: { ids: array(uuid) },
  row: {
    request_id: uuid,
    user_id: uuid,
    user_name: text,
    at: timestamptz,
    comment: nullable(text),
    is_active: bool,
    bindings,
  },
  sql: `SELECT a.request_id, a.user_id, a.user_name, a.given_at AS at, a.comment,
           coalesce(u.status = 'active', false) AS is_active, ${bindingsSql('a.user_id')} AS bindings
      FROM approvals a LEFT JOIN users u ON u.id = a.user_id
     WHERE a.request_id = ANY (:ids) ORDER BY a.given_at, a.user_id`,
})

/** SQL: whether a tenant sees the target `t`, and the release `r` on it. Null: everything. */
const seesTarget = '(k.tenant_id IS NULL OR t.tenant_id IS NULL OR t.tenant_id = k.tenant_id)'
const seesRelease = '(k.tenant_id IS NULL OR r.tenant_id = k.tenant_id)'

interface AskedPromotion {
  environment_id: string
  from_environment_id: string
  source_id: string
  version: string
  variant: string | null
  tenant_id: string | null
}

/**
 * What is in force of a source on the targets of an environment that a tenant sees, and whether a version was in force before in
 * another one: in the order of the list.
 */
export const findPromotions = statement({
  name: 'database.snapshot.find-promotions',
  parameters: { asked: jsonb<readonly AskedPromotion[]>() },
  row: {
    versions: nullable(json<{ version: string; variant: string | null; targets: number }[]>()),
    drifted: int4,
    since: nullable(timestamptz),
    was_in_force: bool,
  },
  sql: `SELECT f.versions, f.drifted, f.since, EXISTS (
             SELECT FROM targets t JOIN releases r ON r.target_id = t.id
              WHERE t.environment_id = k.environment_id AND ${seesTarget} AND ${seesRelease}
                AND r.source_id = k.source_id AND r.state = 'applied'
                AND r.source_version = k.version AND r.variant IS NOT DISTINCT FROM k.variant) AS was_in_force
      FROM ROWS FROM (jsonb_to_recordset(:asked::jsonb) AS (environment_id uuid, from_environment_id uuid, source_id uuid,
             version text, variant text, tenant_id uuid))
           WITH ORDINALITY AS k (environment_id, from_environment_id, source_id, version, variant, tenant_id, place)
     CROSS JOIN LATERAL (
       SELECT json_agg(json_build_object('version', v.version, 'variant', v.variant, 'targets', v.targets)
                       ORDER BY v.targets DESC, v.version) AS versions,
              coalesce(sum(v.drifted), 0)::int AS drifted, max(v.since) AS since
         FROM (SELECT r.source_version AS version, r.variant, count(*) AS targets,
                      count(*) FILTER (WHERE c.drifted_since IS NOT NULL) AS drifted,
                      max(greatest(coalesce(h.current_since, r.ended_at), c.in_sync_since)) AS since
                 FROM targets t
                 JOIN release_heads h ON h.target_id = t.id AND h.source_id = k.source_id
                 JOIN releases r ON r.deployment_id = h.current_deployment_id AND r.target_id = t.id
                 LEFT JOIN release_checks c ON c.target_id = t.id AND c.source_id = k.source_id
                WHERE t.environment_id = k.from_environment_id AND ${seesTarget} AND ${seesRelease}
                GROUP BY 1, 2) v) f
     ORDER BY k.place`,
})
