import type { CommandBody } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import type { PlanHead, PlannedActionRow } from '@slipway/domain'
import type { Caller } from './visibility.ts'

export interface OriginalDeployment {
  plan_head: PlanHead
  selection: CommandBody<'deployment.start'>['selection']
  actions: PlannedActionRow[]
  /** Targets whose part is not complete, in plan order: a step of theirs failed, was skipped, cancelled or rolled back. */
  incomplete_target_ids: string[]
}

/** The deployment that is to be run again; null when there is none that the caller may see. */
export async function loadOriginal(
  database: Queryable,
  caller: Caller,
  deploymentId: string,
): Promise<OriginalDeployment | null> {
  const { rows } = await database.query<OriginalDeployment>(
    `SELECT d.plan_head, d.selection,
            (SELECT json_agg(to_jsonb(a) - 'deployment_id' ORDER BY a.action_index)
               FROM deployment_actions a WHERE a.deployment_id = d.id) AS actions,
            ARRAY(SELECT t.target_id FROM deployment_targets t
                   WHERE t.deployment_id = d.id
                     AND EXISTS (SELECT FROM steps s
                                  WHERE s.deployment_id = d.id AND s.target_index = t.target_index
                                    AND (s.ever_failed OR s.state <> 'completed'))
                   ORDER BY t.target_index) AS incomplete_target_ids
       FROM deployments d
      WHERE d.id = $2 AND ($1::uuid IS NULL OR d.tenant_id = $1)`,
    [caller.tenant_id, deploymentId],
  )
  return rows[0] ?? null
}
