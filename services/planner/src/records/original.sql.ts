import type { CommandBody } from '@slipway/contracts'
import { array, json, jsonb, nullable, statement, uuid } from '@slipway/database'
import { ownSql } from '@slipway/database/read-models'
import type { PlanHead, PlannedActionRow } from '@slipway/domain'

/**
 * The deployment to repeat, the environments that it touches and, in plan order, its incomplete targets: a step failed, or was skipped,
 * cancelled or rolled back.
 */
export const findOriginal = statement({
  name: 'planner.deployments.find-original',
  parameters: { id: uuid, tenant_id: nullable(uuid) },
  row: {
    plan_head: jsonb<PlanHead>(),
    selection: jsonb<CommandBody<'deployment.start'>['selection']>(),
    actions: json<PlannedActionRow[]>(),
    incomplete_target_ids: array(uuid),
    environment_ids: array(uuid),
  },
  sql: `SELECT d.plan_head, d.selection,
           (SELECT json_agg(to_jsonb(a) - 'deployment_id' ORDER BY a.action_index)
              FROM deployment_actions a WHERE a.deployment_id = d.id) AS actions,
           ARRAY(SELECT t.target_id FROM deployment_targets t
                  WHERE t.deployment_id = d.id
                    AND EXISTS (SELECT FROM steps s
                                 WHERE s.deployment_id = d.id AND s.target_index = t.target_index
                                   AND (s.ever_failed OR s.state <> 'completed'))
                  ORDER BY t.target_index) AS incomplete_target_ids,
           ARRAY(SELECT d.environment_id WHERE d.environment_id IS NOT NULL
                  UNION SELECT t.environment_id FROM deployment_targets p JOIN targets t ON t.id = p.target_id
                         WHERE p.deployment_id = d.id AND t.environment_id IS NOT NULL) AS environment_ids
      FROM deployments d
     WHERE d.id = :id AND NOT d.is_check AND ${ownSql('d')}`,
})
