import { type CommandReply, NAMES_END, NAMES_OF_TARGETS } from '@slipway/contracts'
import { type Plan, type PlannedAction, resolvedVariables } from '@slipway/domain'
import type { Planned } from './planning.ts'

export type Preview = CommandReply<'plan.preview'>

interface PreviewOptions {
  /** The ids that the request gave. */
  target_ids: readonly string[]
  /** The form of targets that is read, where it is not that of the release before. */
  accepts: string | undefined
}

/** The answer of a preview: the plan as a deployment would show it, no step begun. Freezes are warnings here. */
export function previewOf(planned: Planned, plan_hash: string, asked: PreviewOptions): Preview {
  const { plan, planned_at } = planned
  const variables = resolvedVariables(plan)
  return {
    plan: {
      target_count: plan.targets.length,
      actions: plan.actions.map(place),
      targets: targetsOf(plan, asked),
      resolved_variables: variables,
      tenant_name: plan.tenant?.name ?? null,
      environment_name: plan.environment?.name ?? null,
      created_at: planned_at.toISOString(),
    },
    warnings: planned.warnings,
    target_summary: planned.target_summary,
    variables,
    source_type: plan.source.type,
    source_name: plan.source.name,
    source_version: plan.source.version,
    plan_hash,
  }
}

/** Ids that the gateway has given are not told to it again: they are most of what there is to tell of thousands. */
function targetsOf({ targets }: Plan, { target_ids, accepts }: PreviewOptions): Preview['plan']['targets'] {
  if (accepts !== NAMES_OF_TARGETS) return targets.map(({ id, name }) => ({ id, name }))
  const isAsked = targets.length === target_ids.length && targets.every(({ id }, index) => id === target_ids[index])
  return { ids: isAsked ? null : targets.map(({ id }) => id), names: targets.map(({ name }) => name).join(NAMES_END) }
}

function place(action: PlannedAction): Preview['plan']['actions'][number] {
  const { sequence_id, sequence_name, sequence_order, action_id, action_name, action_order } = action
  return { sequence_id, sequence_name, sequence_order, action_id, action_name, action_order }
}
