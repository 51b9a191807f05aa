import type { PlanTargetRecord } from './plan.ts'
import type { Plan, PlanHead, PlannedAction, VariableValues } from './plan-schema.ts'
import type { SourcePin } from './source.ts'
import { isSealed, mapValues, mask, mergeValues } from './variables.ts'

/**
 * `resolved_variables` of an answer: the values of all layers except targets, with sensitive ones masked. If actions give a
 * name different values, the value of the last action.
 */
export function resolvedVariables(
  plan: PlanHead & { actions: readonly Pick<PlannedAction, 'variables'>[] },
): VariableValues {
  const actions = plan.actions.map(({ variables }) => variables)
  return mask(mergeValues(...actions, plan.shared_variables, plan.override_variables), plan.sensitive)
}

export interface TargetSummary {
  total: number
  online: number
  offline: number
  stale: number
  /** The one with the most targets first. Null: they have none. */
  environments: { id: string | null; name: string | null; count: number }[]
}

/** Targets by status and environment. `names`: of environments, by id. */
export function targetSummary(
  targets: readonly (Pick<PlanTargetRecord, 'status'> & { environment_id: string | null })[],
  names: ReadonlyMap<string, string>,
): TargetSummary {
  const count = (status: PlanTargetRecord['status']) => targets.filter((target) => target.status === status).length
  const counts = new Map<string | null, number>()
  for (const { environment_id: id } of targets) counts.set(id, (counts.get(id) ?? 0) + 1)
  const environments = [...counts]
    .map(([id, count]) => ({ id, name: id === null ? null : (names.get(id) ?? null), count }))
    .sort((one, other) => other.count - one.count || (one.name ?? '').localeCompare(other.name ?? ''))
  return {
    total: targets.length,
    online: count('online'),
    offline: count('offline'),
    stale: count('stale'),
    environments,
  }
}

/** Every version in the plan. A redeploy uses the same versions. */
export function pinsOf(plan: Pick<Plan, 'source' | 'actions'>): SourcePin[] {
  const { type, id, version } = plan.source
  const pins = new Map<string, SourcePin>()
  const add = (pin: SourcePin) => pins.set(`${pin.kind} ${pin.id} ${pin.version}`, pin)
  add({ kind: type, id, version })
  for (const action of plan.actions) {
    // The sequence of a single action is the action itself.
    if (type !== 'action') add({ kind: 'sequence', id: action.sequence_id, version: action.sequence_version })
    add({ kind: 'action', id: action.action_id, version: action.action_version })
  }
  return [...pins.values()]
}

/** The plan with `change` applied to every value of a sensitive name, to seal or to open them. */
export function mapSensitiveValues(plan: Plan, change: (value: unknown, name: string) => unknown): Plan {
  const sensitive = new Set(plan.sensitive)
  const changed = (values: VariableValues) =>
    mapValues(values, (name, value) => (sensitive.has(name) || isSealed(value) ? change(value, name) : value))
  return {
    ...plan,
    actions: plan.actions.map((action) => ({ ...action, variables: changed(action.variables) })),
    targets: plan.targets.map((target) => ({ ...target, variables: changed(target.variables) })),
    shared_variables: changed(plan.shared_variables),
    override_variables: changed(plan.override_variables),
  }
}
