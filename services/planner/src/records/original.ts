import type { CommandBody } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import type { Plan } from '@slipway/domain'
import type { Caller } from './visibility.ts'

type StartCommand = CommandBody<'deployment.start'>

export interface OriginalDeployment {
  plan_head: Omit<StartCommand['plan'], 'actions' | 'targets'>
  selection: StartCommand['selection']
  /** What a redeploy needs to know of each action. */
  actions: Pick<
    Plan['actions'][number],
    'sequence_id' | 'sequence_version' | 'action_id' | 'action_version' | 'timeout_seconds' | 'max_retries'
  >[]
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
            (SELECT json_agg(json_build_object(
                      'sequence_id', a.sequence_id, 'sequence_version', a.sequence_version,
                      'action_id', a.action_id, 'action_version', a.action_version,
                      'timeout_seconds', a.timeout_seconds, 'max_retries', a.max_retries) ORDER BY a.action_index)
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
