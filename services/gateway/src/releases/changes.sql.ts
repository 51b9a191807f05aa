import type { Replacement, Static } from '@slipway/contracts'
import { array, json, jsonb, nullable, statement, uuid } from '@slipway/database'
import type { PlanHead, PlannedActionRow } from '@slipway/domain'
import { isoTime, jsonObject } from '@slipway/views'
import { ownSql } from '../tenancy/visibility.ts'
import { joinReplaced, replacedId } from './replaced.sql.ts'

export type Replaced = Omit<Static<typeof Replacement>, 'difference'>

/** How many targets of a group are listed. */
const MOST_TARGETS = 100

const GROUP = jsonObject({
  deployment_id: 'p.replaced_id',
  version: 'max(p.version)',
  applied_at: isoTime('max(p.applied_at)'),
  applied_by: 'max(p.applied_by)',
  target_count: 'count(*)',
  targets: `json_agg(${jsonObject({ id: 'p.target_id', name: 'p.target_name' })} ORDER BY p.target_index)
             FILTER (WHERE p.place <= ${MOST_TARGETS})`,
  unchanged_count: 'count(*) FILTER (WHERE p.is_unchanged)',
})

/**
 * What a deployment replaced on its targets or, before its first command there, what is in force. Grouped by that deployment,
 * those with the most targets first. No row if the viewer does not see the deployment.
 */
export const findReplaced = statement({
  name: 'gateway.releases.find-replaced',
  parameters: { id: uuid, tenant_id: nullable(uuid) },
  row: { replaces: json<Replaced[]>() },
  sql: `SELECT coalesce((
      SELECT json_agg(g.replaced ORDER BY g.target_count DESC, g.replaced_id DESC NULLS LAST) FROM (
        SELECT p.replaced_id, count(*) AS target_count, ${GROUP} AS replaced FROM (
          SELECT q.*, row_number() OVER (PARTITION BY q.replaced_id ORDER BY q.target_index) AS place FROM (
            SELECT a.target_index, a.target_id, a.target_name, ${replacedId('a')} AS replaced_id, b.source_version AS version,
                   b.triggered_by AS applied_by, CASE WHEN b.state = 'applied' THEN b.ended_at END AS applied_at,
                   coalesce(a.values_hash = b.values_hash, false) AS is_unchanged
              FROM (
                SELECT t.target_index, t.target_id, t.target_name, t.values_hash,
                       CASE WHEN r.deployment_id IS NULL THEN h.current_deployment_id
                            ELSE r.replaced_deployment_id END AS before_id
                  FROM deployment_targets t
                  LEFT JOIN releases r ON r.deployment_id = t.deployment_id AND r.target_id = t.target_id
                  LEFT JOIN release_heads h ON h.target_id = t.target_id AND h.source_id = d.source_id
                 WHERE t.deployment_id = d.id) a
              ${joinReplaced('a')}) q) p
         GROUP BY p.replaced_id) g), '[]') AS replaces
      FROM deployments d WHERE d.id = :id AND ${ownSql('d')}`,
})

/** The parts of plans that a comparison needs. */
export const findPlans = statement({
  name: 'gateway.releases.find-plans',
  parameters: { ids: array(uuid), tenant_id: nullable(uuid) },
  row: { id: uuid, plan_head: jsonb<PlanHead>(), actions: json<PlannedActionRow[]>() },
  sql: `SELECT d.id, d.plan_head, (SELECT coalesce(json_agg(a ORDER BY a.action_index), '[]')
               FROM deployment_actions a WHERE a.deployment_id = d.id) AS actions
      FROM deployments d WHERE d.id = ANY (:ids) AND ${ownSql('d')}`,
})
