import type { Plan, PlanHead, PlannedAction, PlannedTarget } from './plan-schema.ts'

/** A row of `deployment_actions`, without its deployment. */
export type PlannedActionRow = PlannedAction & { action_index: number }

/** A row of `deployment_targets`, without its deployment. */
interface PlannedTargetRow {
  target_index: number
  target_id: PlannedTarget['id']
  target_name: PlannedTarget['name']
  variables: PlannedTarget['variables']
  values_hash: string | null
}

/** A plan as rows of the database. The head is a column of the deployment. */
export interface PlanRows {
  plan_head: PlanHead
  actions: PlannedActionRow[]
  targets: PlannedTargetRow[]
}

export function toRows({ actions, targets, ...plan_head }: Plan): PlanRows {
  return {
    plan_head,
    actions: actions.map((action, action_index) => ({ action_index, ...action })),
    targets: targets.map(({ id, name, variables, values_hash = null }, target_index) => {
      return { target_index, target_id: id, target_name: name, variables, values_hash }
    }),
  }
}

interface RunRows extends Omit<PlanRows, 'targets'> {
  targets: Omit<PlannedTargetRow, 'values_hash'>[]
}

/** Builds the plan of a run from rows in the order of their indexes. */
export function fromRows({ plan_head, actions, targets }: RunRows): Plan {
  return {
    ...plan_head,
    actions: actions.map(({ action_index: _, ...action }) => action),
    targets: targets.map(({ target_id, target_name, variables }) => ({ id: target_id, name: target_name, variables })),
  }
}
