import type { VariableDefinition } from './definitions.ts'
import type { Plan, PlannedAction, PlannedTarget, VariableValues } from './plan-schema.ts'

/** A value sealed with the key ring. Only services with the keys can open it. */
interface SealedValue {
  $sealed: string
}

export const MASK = '***'
/** Masking a shorter value would replace text all over the output, and the rest would reveal it. */
export const MIN_SENSITIVE_LENGTH = 4

export function isVariableName(text: string): boolean {
  return /^[A-Za-z0-9_]{1,255}$/.test(text)
}

/** The name of the environment variable that a script reads. */
export function environmentName(name: string): string {
  return `SLIPWAY_VAR_${name.toUpperCase()}`
}

// These variables make a shell, loader or interpreter run other code than the script.
const REFUSED_ENVIRONMENT = new Set(
  'PATH IFS ENV BASH_ENV SHELLOPTS BASHOPTS PS4 PROMPT_COMMAND GLOBIGNORE CDPATH NODE_OPTIONS PYTHONSTARTUP PYTHONHOME GCONV_PATH'.split(
    ' ',
  ),
)
const REFUSED_PREFIXES = ['LD_', 'DYLD_', 'BASH_FUNC_', 'SLIPWAY_']

/** Why the `env` of an action must not set this name, or null. */
export function environmentNameProblem(name: string): string | null {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,254}$/.test(name)) return 'must be letters, digits and _, not beginning with a digit'
  const upper = name.toUpperCase()
  if (REFUSED_ENVIRONMENT.has(upper) || REFUSED_PREFIXES.some((prefix) => upper.startsWith(prefix))) {
    return `${name} may not be set: it changes how commands are found or started`
  }
  return null
}

export function isSealed(value: unknown): value is SealedValue {
  return typeof value === 'object' && value !== null && typeof (value as SealedValue).$sealed === 'string'
}

/** Why the value does not fit its definition, or null. A sealed value was checked before. */
export function checkValue(definition: Pick<VariableDefinition, 'type' | 'sensitive'>, value: unknown): string | null {
  if (isSealed(value)) return null
  const type = definition.type ?? 'string'
  if (type === 'number' ? !Number.isFinite(value) : type !== 'json' && typeof value !== type) {
    return `must be a ${type}`
  }
  if (definition.sensitive && toText(value).length < MIN_SENSITIVE_LENGTH) {
    return `is sensitive and must have at least ${MIN_SENSITIVE_LENGTH} characters`
  }
  return null
}

/** The text of a value in the environment and in templates: strings unchanged, other values as JSON. */
export function toText(value: unknown): string {
  if (isSealed(value)) throw new Error('A sealed value has no text: open it first')
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** The values with sensitive ones masked. Sealed values are masked whatever their name. */
export function mask(values: VariableValues, sensitive: Iterable<string>): VariableValues {
  const hidden = new Set(sensitive)
  return mapValues(values, (name, value) => (hidden.has(name) || isSealed(value) ? MASK : value))
}

/** Merges layers of values, lowest first. `__proto__` is a name like any other. */
export function mergeValues(...layers: (VariableValues | undefined)[]): VariableValues {
  return fromEntries(layers.flatMap((layer) => Object.entries(layer ?? {})))
}

/** The first layer of an action: defaults (action, sequence, solution), then values of entries (sequence, solution). */
export function layerActionVariables(layers: {
  definitions: readonly (readonly VariableDefinition[] | undefined)[]
  entries: readonly (VariableValues | undefined)[]
}): VariableValues {
  const defaults = layers.definitions
    .flatMap((definitions) => definitions ?? [])
    .filter((definition) => definition.default !== undefined)
    .map((definition): [string, unknown] => [definition.name, definition.default])
  return mergeValues(fromEntries(defaults), ...layers.entries)
}

/** The values for a step of this action on this target. */
export function valuesFor(
  plan: Pick<Plan, 'shared_variables' | 'override_variables'> & {
    actions: readonly Pick<PlannedAction, 'variables'>[]
  },
  actionIndex: number,
  target: Pick<PlannedTarget, 'variables'>,
): VariableValues {
  const action = plan.actions[actionIndex]
  return mergeValues(action?.variables, plan.shared_variables, target.variables, plan.override_variables)
}

/** Pairs of names that differ only in case. They would be one environment variable. */
export function clashingNames(names: Iterable<string>): [string, string][] {
  const seen = new Map<string, string>()
  const clashes: [string, string][] = []
  for (const name of new Set(names)) {
    const upper = name.toUpperCase()
    const first = seen.get(upper)
    if (first === undefined) seen.set(upper, name)
    else clashes.push([first, name])
  }
  return clashes
}

/** Everything that the definitions of a plan declare for one name. */
export interface CollectedDefinition {
  name: string
  ids: Set<string>
  /** The declared types. If there is more than one, no value fits. */
  types: Set<NonNullable<VariableDefinition['type']>>
  required: boolean
  prompted: boolean
  sensitive: boolean
}

/** Groups definitions by name. If no definition gives a type, the type is string. */
export function collectDefinitions(definitions: Iterable<VariableDefinition>): Map<string, CollectedDefinition> {
  const collected = new Map<string, CollectedDefinition>()
  for (const definition of definitions) {
    const { name } = definition
    const known = collected.get(name)
    const entry = known ?? {
      name,
      ids: new Set(),
      types: new Set(),
      required: false,
      prompted: false,
      sensitive: false,
    }
    if (!known) collected.set(name, entry)
    if (definition.id !== undefined) entry.ids.add(definition.id)
    if (definition.type !== undefined) entry.types.add(definition.type)
    entry.required ||= definition.required === true
    entry.prompted ||= definition.prompted === true
    entry.sensitive ||= definition.sensitive === true
  }
  for (const entry of collected.values()) if (entry.types.size === 0) entry.types.add('string')
  return collected
}

/** Applies `checkValue` to the collected definition of a name. */
export function checkCollected(definition: CollectedDefinition, value: unknown): string | null {
  for (const type of definition.types) {
    const problem = checkValue({ type, sensitive: definition.sensitive }, value)
    if (problem) return problem
  }
  return null
}

export function mapValues(values: VariableValues, change: (name: string, value: unknown) => unknown): VariableValues {
  return fromEntries(Object.entries(values).map(([name, value]): [string, unknown] => [name, change(name, value)]))
}

// Object.fromEntries defines properties, so a name such as __proto__ becomes an ordinary property.
function fromEntries(entries: Iterable<[string, unknown]>): VariableValues {
  return Object.fromEntries(entries)
}

/** Linux starts no program with a variable of more than 128 KiB. */
const MAX_VALUE_BYTES = 120 * 1024

/** Why the environment of a command cannot hold the variable, or null. */
export function environmentSizeProblem(variable: string, text: string): string | null {
  // No character has more than 3 bytes for each of its UTF-16 units.
  if (variable.length + 1 + text.length * 3 <= MAX_VALUE_BYTES) return null
  const bytes = variable.length + 1 + Buffer.byteLength(text)
  if (bytes <= MAX_VALUE_BYTES) return null
  return `has ${bytes} bytes with its name, and a variable has at most ${MAX_VALUE_BYTES}: put the text into \`files\``
}

/** Why a script cannot get the value of the variable, or null. A sealed value was checked before. */
export function valueSizeProblem(name: string, value: unknown): string | null {
  return isSealed(value) ? null : environmentSizeProblem(environmentName(name), toText(value))
}
