import type { Plan, PlannedTarget, VariableValues } from './plan-schema.ts'
import { pinsOf } from './plan-views.ts'

/** The parts by which two plans are compared, in the order in which differences are reported. */
export const PLAN_PARTS = [
  'source',
  'scope',
  'versions',
  'steps',
  'targets',
  'variables/definitions',
  'variables/scope',
  'variables/targets',
  'variables/request',
  'options',
] as const
export type PlanPart = (typeof PLAN_PARTS)[number]

/**
 * The pieces of each part. Two plans that do the same have the same pieces. Pieces have no names of records, because a renamed
 * target is the same target. The layers of variables stay apart: if they were merged, callers could test guesses against the
 * secrets of an environment.
 */
export function planParts(plan: Plan): Record<PlanPart, unknown[]> {
  const { source, tenant, environment, actions, targets } = plan
  const { bypass_cache: _, ...options } = plan.options
  return {
    source: [source.type, source.id, source.version],
    scope: [tenant?.id ?? null, environment?.id ?? null],
    versions: pinsOf(plan),
    steps: actions.map(({ sequence_id, sequence_order, action_id, action_order, timeout_seconds, max_retries }) => [
      [sequence_order, sequence_id, action_order, action_id],
      [timeout_seconds, max_retries],
    ]),
    targets: targets.map(({ id }) => id),
    'variables/definitions': actions.map(({ variables }) => variables),
    'variables/scope': [plan.shared_variables],
    'variables/targets': targets.map(({ variables }) => variables),
    'variables/request': [plan.override_variables],
    options: [options],
  }
}

/**
 * What a deployment brings to each of its targets, without the variables of the target: the order of actions with their
 * versions, and the layers of variables. The layers stay apart for the reason above.
 */
export function releaseContents({ source, tenant, environment, actions, ...plan }: Plan): unknown[] {
  return [
    [source.type, source.id, source.version, tenant?.id ?? null, environment?.id ?? null],
    ...actions.map((action) => [action.sequence_id, action.sequence_version, action.action_id, action.action_version]),
    ...actions.map(({ variables }) => variables),
    plan.shared_variables,
    plan.override_variables,
  ]
}

/** JSON with sorted keys. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  const object = value as Record<string, unknown>
  let text = ''
  for (const key of Object.keys(object).sort()) {
    if (object[key] !== undefined)
      text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(object[key])}`
  }
  return `{${text}}`
}

const NAMED = 20

/** The present content of a part, for a person. Of variables it shows only the names. */
export function describePart(plan: Plan, part: PlanPart): string {
  const { source, tenant, environment, actions, targets, options } = plan
  switch (part) {
    case 'source':
      return `${source.type} "${source.name}" ${source.version}`
    case 'scope':
      return `${tenant ? `tenant "${tenant.name}"` : 'no tenant'}, ${environment ? `environment "${environment.name}"` : 'no environment'}`
    case 'versions':
      return listed(new Set(actions.flatMap((action) => versionsOf(plan, action))))
    case 'steps':
      return listed(actions.map(({ sequence_name, action_name }) => `${sequence_name}/${action_name}`))
    case 'targets':
      return listed(targets.map(({ name }) => name))
    case 'variables/definitions':
      return listed(names(actions))
    case 'variables/scope':
      return listed(Object.keys(plan.shared_variables))
    case 'variables/targets':
      return listed(names(targets))
    case 'variables/request':
      return listed(Object.keys(plan.override_variables))
    case 'options':
      return listed(
        Object.entries(options)
          .filter(([name]) => name !== 'bypass_cache')
          .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`),
      )
  }
}

function versionsOf({ source }: Plan, action: Plan['actions'][number]): string[] {
  const ofAction = `action "${action.action_name}" ${action.action_version}`
  if (source.type === 'action') return [ofAction]
  return [`sequence "${action.sequence_name}" ${action.sequence_version}`, ofAction]
}

function names(holders: readonly Pick<PlannedTarget, 'variables'>[]): Set<string> {
  return new Set(holders.flatMap(({ variables }: { variables: VariableValues }) => Object.keys(variables)))
}

function listed(items: Iterable<string>): string {
  const all = [...items]
  if (all.length === 0) return 'none'
  const more = all.length > NAMED ? ` and ${all.length - NAMED} more` : ''
  return all.slice(0, NAMED).join(', ') + more
}
