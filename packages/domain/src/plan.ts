import { commandSizeProblems } from './command-sizes.ts'
import type {
  FailureStrategy,
  Plan,
  PlannedAction,
  PlanOptions,
  RollbackStrategy,
  TargetMode,
  VariableValues,
} from './plan-schema.ts'
import { templateNames, templateProblems } from './plan-templates.ts'
import {
  OwnValues,
  promptedByName,
  type TargetValues,
  type ValueLayers,
  type ValuesOfRecord,
  valueProblems,
} from './plan-values.ts'
import { type FieldError, validationProblem } from './problem.ts'
import { suggest } from './similar.ts'
import type { ResolvedAction, ResolvedSource } from './source.ts'
import {
  type CollectedDefinition,
  collectDefinitions,
  environmentName,
  layerActionVariables,
  mergeValues,
} from './variables.ts'

export const DEFAULT_TIMEOUT_SECONDS = 3600
export const DEFAULT_MAX_RETRIES = 0

export const TARGET_STATUSES = ['online', 'stale', 'offline'] as const
export type TargetStatus = (typeof TARGET_STATUSES)[number]

export interface PlanTargetRecord extends TargetValues {
  id: string
  status: TargetStatus
  /** The target was created a moment ago, and its first probe is still to come. */
  awaits_probe: boolean
  /** Names of `variables` with values that are never shown. */
  sensitive: readonly string[]
  environment: TargetEnvironment | null
}

/** The environment of a target. */
interface TargetEnvironment extends ValuesOfRecord {
  id: string
  sensitive: readonly string[]
}

/** The part of a create, preview or redeploy request that planning needs. */
export interface PlanRequest {
  variables?: VariableValues | undefined
  prompted_values?: VariableValues | undefined
  target_mode?: TargetMode | undefined
  failure_strategy?: FailureStrategy | undefined
  rollback_strategy?: RollbackStrategy | undefined
  priority?: number | undefined
  timeout_seconds?: number | undefined
  max_retries?: number | undefined
  deployment_timeout_seconds?: number | undefined
  bypass_cache?: boolean | undefined
}

export interface PlanInput {
  /** The id of the command message. */
  command_id: string
  source: ResolvedSource
  /** In the order of `selectTargets`. The variables of their environments count if `environment` is null. */
  targets: readonly PlanTargetRecord[]
  tenant: { id: string; name: string; variables: VariableValues; sensitive: readonly string[] } | null
  environment: {
    id: string
    name: string
    tenant_id: string | null
    variables: VariableValues
    sensitive: readonly string[]
  } | null
  request: PlanRequest
  /** Problems that `selectTargets` found. They are reported together with the others. */
  problems?: readonly FieldError[]
}

interface BuiltPlan {
  plan: Plan
  warnings: string[]
  /** The warnings that `strict` turns into a refusal, because the request is probably wrong. */
  request_warnings: string[]
}

/**
 * Builds the plan of a request from the loaded records. Sensitive values are not sealed yet: `mapSensitiveValues` does that.
 * @throws Problem VALIDATION_ERROR with everything that is wrong
 */
export function buildPlan(input: PlanInput): BuiltPlan {
  const { source, tenant, environment, request } = input
  // The environment of the request counts for all targets.
  const targets =
    environment === null ? input.targets : input.targets.map((target) => ({ ...target, environment: null }))
  const own = new OwnValues(targets)
  const errors = [...(input.problems ?? []), ...scopeProblems(input)]
  const definitions = collectDefinitions(source.actions.flatMap((action) => action.definitions.flat()))
  const layers: ValueLayers = {
    actions: source.actions.map((action) => ({
      action,
      values: layerActionVariables({ definitions: action.definitions, entries: action.entries }),
      path: `/${source.type}_id`,
    })),
    tenant: tenant?.variables ?? {},
    environment: environment?.variables ?? {},
    targets: own,
    variables: request.variables ?? {},
    ...promptedByName(request.prompted_values ?? {}, definitions, errors),
  }
  errors.push(...valueProblems(layers, definitions), ...templateProblems(layers), ...commandSizeProblems(layers))
  if (errors.length > 0) throw validationProblem(errors)

  const plan: Plan = {
    source: { type: source.type, id: source.id, name: source.name, version: source.version },
    tenant: tenant && { id: tenant.id, name: tenant.name },
    environment: environment && { id: environment.id, name: environment.name },
    actions: layers.actions.map(({ action, values }) => plannedAction(action, values, request)),
    targets: targets.map(({ id, name }, index) => ({ id, name, variables: own.all[index] ?? {} })),
    shared_variables: mergeValues(layers.tenant, layers.environment),
    override_variables: mergeValues(layers.variables, layers.prompted),
    sensitive: sensitiveNames({ ...input, targets }, definitions),
    sealed_under: input.command_id,
    options: optionsOf(request),
  }
  const request_warnings = [
    ...environmentWarnings(targets),
    ...statusWarnings(
      targets.filter(({ awaits_probe }) => !awaits_probe),
      'offline',
      ': its steps will fail',
    ),
    ...templateWarnings(plan, source.actions, layers.targets),
    ...unusedWarnings(Object.keys(layers.variables), definitions, source.actions),
  ]
  return { plan, warnings: [...request_warnings, ...statusWarnings(targets, 'stale')], request_warnings }
}

/** The names that a definition or a record declares sensitive. Their values are sealed in every layer. */
function sensitiveNames(
  { tenant, environment, targets }: PlanInput,
  definitions: ReadonlyMap<string, CollectedDefinition>,
): string[] {
  const declared = [...definitions.values()].filter(({ sensitive }) => sensitive).map(({ name }) => name)
  const names = new Set([...declared, ...(tenant?.sensitive ?? []), ...(environment?.sensitive ?? [])])
  for (const target of targets) for (const name of target.sensitive) names.add(name)
  for (const { sensitive } of environmentsOf(targets)) for (const name of sensitive) names.add(name)
  return [...names]
}

function scopeProblems({ source, targets, tenant, environment, problems = [] }: PlanInput): FieldError[] {
  const errors: FieldError[] = []
  const path = `/${source.type}_id`
  const tenantId = tenant?.id ?? null
  const isForeign = (id: string | null) => id !== null && id !== tenantId
  for (const { kind, name } of source.records.filter((record) => isForeign(record.tenant_id))) {
    errors.push({ path, message: `${kind} "${name}" is of another tenant` })
  }
  if (environment && isForeign(environment.tenant_id)) {
    errors.push({ path: '/environment_id', message: `environment "${environment.name}" is of another tenant` })
  }
  if (source.actions.length === 0) errors.push({ path, message: `${source.type} "${source.name}" has no actions` })
  if (targets.length === 0 && problems.length === 0) {
    errors.push({ path: '/target_ids', message: 'the selection matches no enabled target' })
  }
  return errors
}

function plannedAction(action: ResolvedAction, variables: VariableValues, request: PlanRequest): PlannedAction {
  const { definition, definitions: _, entries: __, ...place } = action
  return {
    ...place,
    timeout_seconds: request.timeout_seconds ?? definition.timeout_seconds ?? DEFAULT_TIMEOUT_SECONDS,
    max_retries: request.max_retries ?? definition.max_retries ?? DEFAULT_MAX_RETRIES,
    has_rollback: definition.rollback !== undefined,
    variables,
  }
}

function optionsOf(request: PlanRequest): PlanOptions {
  return {
    target_mode: request.target_mode ?? 'sequential',
    failure_strategy: request.failure_strategy ?? 'stop_on_first_failure',
    rollback_strategy: request.rollback_strategy ?? 'none',
    priority: request.priority ?? 0,
    timeout_seconds: request.timeout_seconds ?? DEFAULT_TIMEOUT_SECONDS,
    max_retries: request.max_retries ?? DEFAULT_MAX_RETRIES,
    deployment_timeout_seconds: request.deployment_timeout_seconds ?? 0,
    bypass_cache: request.bypass_cache ?? false,
  }
}

function environmentsOf(targets: readonly PlanTargetRecord[]): TargetEnvironment[] {
  const found = targets.flatMap(({ environment }) => environment ?? [])
  return [...new Map(found.map((environment) => [environment.id, environment])).values()]
}

/** Each target gets the variables of its environment, so a selection that is too wide brings values that nobody meant. */
function environmentWarnings(targets: readonly PlanTargetRecord[]): string[] {
  const environments = environmentsOf(targets)
  if (environments.length < 2) return []
  const count = (id?: string) => targets.filter(({ environment }) => environment?.id === id).length
  const named = environments.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const outside = count()
  const places = named.map(({ id, name }) => `${count(id)} in "${name}"`)
  if (outside > 0) places.push(`${outside} in none`)
  const effect = 'each target gets the variables of its own; name one with environment_id if that is not meant'
  return [`The targets lie in ${environments.length} environments (${places.join(', ')}): ${effect}`]
}

/** At most this many offline targets are named; a number says more about thousands. */
const NAMED_TARGETS = 100

function statusWarnings(targets: readonly PlanTargetRecord[], expected: TargetStatus, effect = ''): string[] {
  const found = targets.filter(({ status }) => status === expected)
  const named = found.slice(0, NAMED_TARGETS).map(({ name }) => `Target "${name}" is ${expected}${effect}`)
  const others = found.length - named.length
  return others === 0 ? named : [...named, `${others} more targets are ${expected}`]
}

function templateWarnings(plan: Plan, actions: readonly ResolvedAction[], targets: OwnValues): string[] {
  const warnings = new Set<string>()
  for (const [index, { definition, action_name }] of actions.entries()) {
    const values = mergeValues(plan.actions[index]?.variables, plan.shared_variables, plan.override_variables)
    for (const name of templateNames(definition)) {
      const lacking = Object.hasOwn(values, name) ? 0 : targets.lacking(name)
      if (lacking === 0) continue
      const where = lacking === targets.total ? '' : ` on ${lacking} of ${targets.total} targets`
      warnings.add(`Action "${action_name}": {{ ${name} }} has no value${where} and is left as it stands`)
    }
  }
  return [...warnings]
}

/** Comparing names takes time, and the planner plans for all tenants. */
const MAX_HINTS = 20
const MAX_KNOWN = 1_000

/** Variables of the request that nothing declares or uses. Most are spelling mistakes. */
function unusedWarnings(
  names: readonly string[],
  definitions: ReadonlyMap<string, unknown>,
  actions: readonly ResolvedAction[],
): string[] {
  const undeclared = names.filter((name) => !definitions.has(name))
  if (undeclared.length === 0) return []
  const used = [...new Set(actions.map(({ definition }) => definition))]
  const templates = new Set(used.flatMap(templateNames))
  const scripts = used.map(scriptsOf)
  const mentioned = new Set(scripts.flatMap((script) => script.match(/SLIPWAY_VAR_[A-Z0-9_]+/g) ?? []))
  const known = new Set([...definitions.keys(), ...templates])
  return undeclared
    .filter((name) => !templates.has(name) && !mentioned.has(environmentName(name)))
    .map((name, index) => {
      const hint = index < MAX_HINTS && known.size <= MAX_KNOWN ? suggest(name, known) : ''
      return `Variable "${name}" is given and not used: no definition, script or template names it${hint}`
    })
}

function scriptsOf({ script, rollback, check }: ResolvedAction['definition']): string {
  return `${script}\n${rollback?.script ?? ''}\n${check?.script ?? ''}`
}
