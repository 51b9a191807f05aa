// People write values as JSON and YAML. Scripts get the text that JSON has for the parsed value, not what was written:
// 1.10 becomes 1.1, 0x1F becomes 31, and an empty YAML value becomes null. Readers of such texts refuse these values.

/** Whether a parsed scalar has the text that was written. `source` is this text. */
export const isAsWritten = (value: unknown, source: string): boolean =>
  typeof value === 'string' || String(value) === source

const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/g
const NUMBER = /-?[0-9][0-9.eE+-]*/g

/** The offset of the first number in a JSON text that does not keep its digits, or null. The text must be valid JSON. */
export function findChangedDigits(json: string): number | null {
  const withoutStrings = json.replace(STRING, (string) => ' '.repeat(string.length))
  for (const { 0: source, index } of withoutStrings.matchAll(NUMBER)) {
    if (!isAsWritten(Number(source), source)) return index
  }
  return null
}
