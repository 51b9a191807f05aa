import type { CommandReply } from '@slipway/contracts'
import {
  type ComparedPlan,
  type PlannedAction,
  plannedVersions,
  replacements,
  resolvedVariables,
} from '@slipway/domain'
import type { Planned } from './planning.ts'
import type { StartOfPlan } from './start.ts'

export type Preview = CommandReply<'plan.preview'>

interface Previewed {
  planned: Planned
  start: StartOfPlan
  plan_hash: string
  /** The plans of the deployments that it is compared with. */
  plans: ReadonlyMap<string, ComparedPlan>
}

/** The answer of a preview: the plan like that of a deployment with all steps pending. What blocks the start is no error. */
export function previewOf({ planned, start, plan_hash, plans }: Previewed): Preview {
  const { plan } = planned
  const variables = resolvedVariables(plan)
  return {
    plan: {
      target_count: plan.targets.length,
      versions: plannedVersions(plan),
      actions: plan.actions.map(place),
      targets: plan.targets.map(({ id, name }) => ({ id, name })),
      resolved_variables: variables,
      tenant_name: plan.tenant?.name ?? null,
      environment_name: plan.environment?.name ?? null,
      created_at: start.now.toISOString(),
    },
    warnings: start.warnings,
    blockers: start.blockers,
    earliest_start: start.earliest_start,
    queue: start.queue,
    target_summary: planned.target_summary,
    variables,
    source_type: plan.source.type,
    source_name: plan.source.name,
    source_version: plan.source.version,
    plan_hash,
    replaces: replacements(planned.inForce, plan, plans),
    unchanged_targets: planned.unchanged,
  }
}

function place(action: PlannedAction): Preview['plan']['actions'][number] {
  const { sequence_id, sequence_name, sequence_version, sequence_order } = action
  const { action_id, action_name, action_version, action_order } = action
  return {
    sequence_id,
    sequence_name,
    sequence_version,
    sequence_order,
    action_id,
    action_name,
    action_version,
    action_order,
  }
}
