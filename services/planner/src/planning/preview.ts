import type { CommandReply } from '@slipway/contracts'
import { type Plan, resolvedVariables, stepId, stepsOf } from '@slipway/domain'
import type { Planned } from './planning.ts'

export type Preview = CommandReply<'plan.preview'>

/** The answer of a preview: the plan as a deployment would show it, no step begun. Freezes are warnings here. */
export function previewOf(commandId: string, planned: Planned, plan_hash: string): Preview {
  const { plan, planned_at } = planned
  const variables = resolvedVariables(plan)
  const freezeWarnings = planned.blocking.map(
    ({ name, end_time }) => `Freeze "${name}" blocks this deployment until ${new Date(end_time).toISOString()}`,
  )
  return {
    plan: {
      target_count: plan.targets.length,
      steps: [...previewSteps(commandId, plan)],
      resolved_variables: variables,
      tenant_name: plan.tenant?.name ?? null,
      environment_name: plan.environment?.name ?? null,
      created_at: planned_at.toISOString(),
    },
    warnings: [...freezeWarnings, ...planned.warnings],
    target_summary: planned.target_summary,
    variables,
    source_type: plan.source.type,
    source_name: plan.source.name,
    source_version: plan.source.version,
    plan_hash,
  }
}

function* previewSteps(commandId: string, plan: Plan): Generator<Preview['plan']['steps'][number]> {
  for (const { targetIndex, actionIndex } of stepsOf(plan)) {
    const target = plan.targets[targetIndex]
    const action = plan.actions[actionIndex]
    if (!target || !action) continue
    yield {
      id: stepId(commandId, targetIndex, actionIndex),
      target_id: target.id,
      target_name: target.name,
      sequence_id: action.sequence_id,
      sequence_name: action.sequence_name,
      sequence_order: action.sequence_order,
      action_id: action.action_id,
      action_name: action.action_name,
      action_order: action.action_order,
      state: 'pending',
      started_at: null,
      completed_at: null,
      exit_code: null,
      error_message: null,
      retry_count: 0,
      duration_ms: null,
    }
  }
}
