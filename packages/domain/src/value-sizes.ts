import { environmentName, isSealed, toText } from './variables.ts'

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
