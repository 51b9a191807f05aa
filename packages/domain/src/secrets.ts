import type { Plan } from './plan-schema.ts'
import type { FieldError } from './problem.ts'
import { isSealed, MIN_SENSITIVE_LENGTH, toText } from './variables.ts'

/** Masking costs memory for each secret. */
const MAX_SECRETS = 2_000
const MAX_SECRET_BYTES = 256 * 1024

/** The texts that a sensitive value must not reveal: all texts and numbers in it, and the words of a JSON text. Keys are not secret. */
export function secretTexts(value: unknown): string[] {
  const text = toText(value)
  const leaves = typeof value === 'string' ? leavesOfText(value) : leavesOf(value)
  return [...new Set(leaves ?? [text])].filter((leaf) => leaf.length >= MIN_SENSITIVE_LENGTH)
}

function leavesOfText(text: string): string[] | null {
  if (!/^\s*[[{]/.test(text)) return null
  try {
    return [...leavesOf(JSON.parse(text)), ...numbersOf(text)]
  } catch {
    return null
  }
}

function leavesOf(value: unknown): string[] {
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : [toText(value)]
}

/** The numbers of a JSON text as they are written: JSON.parse drops zeros at the end, and digits that a double does not keep. */
function numbersOf(json: string): string[] {
  return json.replace(/"[^"\\]*(?:\\.[^"\\]*)*"/g, '""').match(/-?[0-9][0-9.eE+-]*/g) ?? []
}

/** Why the commands of the plan cannot have so many secrets, or null. */
export function secretLimitProblem(plan: Plan): FieldError | null {
  const texts = new Map<string, number>()
  const layers = [
    plan.shared_variables,
    plan.override_variables,
    ...[...plan.actions, ...plan.targets].map(({ variables }) => variables),
  ]
  const values = new Set<unknown>()
  for (const layer of new Set(layers)) {
    for (const name of plan.sensitive) if (Object.hasOwn(layer, name)) values.add(layer[name])
  }
  for (const value of values) {
    if (isSealed(value)) continue
    for (const text of secretTexts(value)) if (!texts.has(text)) texts.set(text, Buffer.byteLength(text))
  }
  const bytes = [...texts.values()].reduce((all, one) => all + one, 0)
  if (texts.size <= MAX_SECRETS && bytes <= MAX_SECRET_BYTES) return null
  const found = `has ${texts.size} secret values with ${bytes} bytes, those of all targets and the leaves of JSON included`
  const limit = `at most ${MAX_SECRETS} values and ${MAX_SECRET_BYTES} bytes can be masked`
  return { path: '', message: `${found}, and ${limit}: select fewer targets, or mark fewer variables as sensitive` }
}
