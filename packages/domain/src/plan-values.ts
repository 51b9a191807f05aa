import type { VariableDefinition } from './definitions.ts'
import type { VariableValues } from './plan-schema.ts'
import { type FieldError, pointer } from './problem.ts'
import type { ResolvedAction } from './source.ts'
import {
  type CollectedDefinition,
  checkCollected,
  clashingNames,
  collectDefinitions,
  isVariableName,
  mergeValues,
  valueSizeProblem,
} from './variables.ts'

type Definitions = ReadonlyMap<string, CollectedDefinition>

/** The values of a plan by layer, lowest first, and the field of the request that sets each layer. */
export interface ValueLayers {
  /** One entry per action, in order. */
  actions: { action: ResolvedAction; values: VariableValues; path: string }[]
  tenant: VariableValues
  environment: VariableValues
  targets: OwnValues
  variables: VariableValues
  prompted: VariableValues
  /** The key in `prompted_values` by which the request set a name. */
  promptedKeys: ReadonlyMap<string, string>
}

export interface ValuesOfRecord {
  name: string
  variables: VariableValues
}

/** A target and the environment from which it gets variables. The variables of the target replace them. */
export interface TargetValues extends ValuesOfRecord {
  environment: ValuesOfRecord | null
}

/** Values of single targets. There may be thousands of targets, and most have no values of their own. */
export class OwnValues {
  /** In the order of the targets, with the values of their environments. */
  readonly all: readonly VariableValues[]
  /** The targets that have values. */
  readonly targets: readonly { target: TargetValues; variables: VariableValues }[]
  readonly total: number
  readonly #counts = new Map<string, number>()

  constructor(targets: readonly TargetValues[]) {
    const merged = targets.map((target) => ({ target, variables: withEnvironment(target) }))
    this.all = merged.map(({ variables }) => variables)
    this.targets = merged.filter(({ variables }) => Object.keys(variables).length > 0)
    this.total = targets.length
    for (const { variables } of this.targets) {
      for (const name of Object.keys(variables)) this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
    }
  }

  /** How many targets have no value of this name. */
  lacking(name: string): number {
    return this.total - (this.#counts.get(name) ?? 0)
  }
}

/** Targets without variables share one object, because there may be thousands. */
function withEnvironment({ variables, environment }: TargetValues): VariableValues {
  if (environment === null) return variables
  return Object.keys(variables).length === 0 ? environment.variables : mergeValues(environment.variables, variables)
}

/** `prompted_values` by variable name. Each key is the name or the id of a variable that the source declares. */
export function promptedByName(
  given: VariableValues,
  definitions: Definitions,
  errors: FieldError[],
): Pick<ValueLayers, 'prompted' | 'promptedKeys'> {
  const ids = [...definitions.values()].flatMap((definition) => [...definition.ids].map((id) => [id, definition.name]))
  const nameOfId = new Map(ids as [string, string][])
  const promptedKeys = new Map<string, string>()
  for (const key of Object.keys(given)) {
    const name = definitions.has(key) ? key : nameOfId.get(key.toLowerCase())
    const path = pointer('prompted_values', key)
    if (name === undefined) errors.push({ path, message: 'the source does not declare this variable' })
    else if (promptedKeys.has(name)) errors.push({ path, message: `gives variable "${name}" a second time` })
    else promptedKeys.set(name, key)
  }
  return { prompted: Object.fromEntries([...promptedKeys].map(([name, key]) => [name, given[key]])), promptedKeys }
}

/** Everything wrong with the values that steps get. Values that a higher layer replaces are not checked. */
export function valueProblems(layers: ValueLayers, definitions: Definitions): FieldError[] {
  return [...badNames(layers), ...clashes(layers, definitions), ...wrongTypes(layers, definitions), ...missing(layers)]
}

function badNames({ variables }: ValueLayers): FieldError[] {
  return Object.keys(variables)
    .filter((name) => !isVariableName(name))
    .map((name) => ({ path: pointer('variables', name), message: 'must have only letters, digits and _' }))
}

function clashes(layers: ValueLayers, definitions: Definitions): FieldError[] {
  const { actions, tenant, environment, targets, variables } = layers
  const names = new Set(definitions.keys())
  for (const values of [...actions.map((each) => each.values), tenant, environment, variables]) addNames(names, values)
  for (const target of targets.targets) addNames(names, target.variables)
  return clashingNames(names).map(([first, second]) => {
    const given = [second, first].find((name) => Object.hasOwn(variables, name))
    const path = given === undefined ? '/variables' : pointer('variables', given)
    return { path, message: `"${first}" and "${second}" differ only in case and would be one environment variable` }
  })
}

function addNames(names: Set<string>, values: VariableValues): void {
  for (const name of Object.keys(values)) names.add(name)
}

function* wrongTypes(layers: ValueLayers, definitions: Definitions): Generator<FieldError> {
  const { actions, tenant, environment, targets, variables, prompted, promptedKeys } = layers
  const inRequest = (name: string) => Object.hasOwn(variables, name) || Object.hasOwn(prompted, name)
  const reachesTargets = (name: string) => !inRequest(name) && targets.lacking(name) > 0
  const isShared = (name: string) => Object.hasOwn(tenant, name) || Object.hasOwn(environment, name)

  for (const { name, problem } of misfits(prompted, definitions, () => true)) {
    const path = pointer('prompted_values', promptedKeys.get(name) ?? name)
    yield { path, message: `variable "${name}" ${problem}` }
  }
  for (const { name, problem } of misfits(variables, definitions, (name) => !Object.hasOwn(prompted, name))) {
    yield { path: pointer('variables', name), message: `variable "${name}" ${problem}` }
  }
  const ofTargets = new Set<string>()
  for (const { target, variables } of targets.targets) {
    for (const { name, problem } of misfits(variables, definitions, (name) => !inRequest(name))) {
      const isOwn = Object.hasOwn(target.variables, name)
      const holder = isOwn ? `target "${target.name}"` : `environment "${target.environment?.name}"`
      ofTargets.add(`variable "${name}" of ${holder} ${problem}`)
    }
  }
  for (const message of ofTargets) yield { path: '/target_ids', message }
  for (const { name, problem } of misfits(environment, definitions, reachesTargets)) {
    yield { path: '/environment_id', message: `variable "${name}" of the environment ${problem}` }
  }
  const seenOfTenant = (name: string) => reachesTargets(name) && !Object.hasOwn(environment, name)
  for (const { name, problem } of misfits(tenant, definitions, seenOfTenant)) {
    yield { path: '/tenant_id', message: `variable "${name}" of the tenant ${problem}` }
  }
  for (const { action, values, path } of actions) {
    const declared = collectDefinitions(action.definitions.flat())
    for (const { name, problem } of misfits(values, declared, (name) => reachesTargets(name) && !isShared(name))) {
      yield { path, message: `variable "${name}" of action "${action.action_name}" ${problem}` }
    }
  }
}

/** The values of steps that do not fit the declarations of their names. */
function* misfits(
  values: VariableValues,
  definitions: Definitions,
  isSeen: (name: string) => boolean,
): Generator<{ name: string; problem: string }> {
  for (const [name, value] of Object.entries(values)) {
    if (!isSeen(name)) continue
    const definition = definitions.get(name)
    const problem = (definition && checkCollected(definition, value)) ?? valueSizeProblem(name, value)
    if (problem) yield { name, problem }
  }
}

function missing({ actions, tenant, environment, targets, variables, prompted }: ValueLayers): FieldError[] {
  const found = new Map<string, FieldError>()
  const isRequired = (definition: VariableDefinition) => definition.required === true
  for (const { action, values } of actions) {
    for (const { name } of action.definitions.flat().filter(isRequired)) {
      const lacking = targets.lacking(name)
      const has = [values, tenant, environment, variables, prompted].some((layer) => Object.hasOwn(layer, name))
      if (has || lacking === 0) continue
      const message = `required variable "${name}" has no value for ${lacking} of ${targets.total} targets`
      found.set(name, { path: pointer('variables', name), message })
    }
  }
  return [...found.values()]
}
