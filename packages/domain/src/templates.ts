import type { Interpreter } from './definitions.ts'
import type { VariableValues } from './plan-schema.ts'
import { templatesInArithmetic } from './shell-arithmetic.ts'
import { renderShell } from './shell-template.ts'
import { toText } from './variables.ts'

const PLACEHOLDER = /\{\{[ \t]*([A-Za-z0-9_]+)[ \t]*\}\}/g

/** The names of the `{{ name }}` templates in a script, without duplicates. */
export function templateNames(script: string): string[] {
  return [...new Set(Array.from(script.matchAll(PLACEHOLDER), ([, name = '']) => name))]
}

/** The shell would evaluate a value that is not a number as code. */
export class UnsafeTemplate extends Error {
  override name = 'UnsafeTemplate'
}

const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/

/**
 * Replaces `{{ name }}` by the value as a string of the interpreter's language, so a value never becomes code. Templates
 * without a value stay as they are and are listed in `unresolved`.
 * @throws UnsafeTemplate for a value in shell arithmetic that is not a number
 */
export function renderTemplate(
  script: string,
  values: VariableValues,
  interpreter: Interpreter = 'sh',
): { text: string; unresolved: string[] } {
  const names = templateNames(script)
  const known = new Map(names.filter((name) => Object.hasOwn(values, name)).map((name) => [name, toText(values[name])]))
  const unresolved = names.filter((name) => !known.has(name))
  if (known.size === 0) return { text: script, unresolved }
  if (isShell(interpreter)) {
    for (const name of templatesInArithmetic(script)) {
      if (NUMBER.test(known.get(name) ?? '0')) continue
      throw new UnsafeTemplate(
        `{{ ${name} }} stands where the shell evaluates arithmetic, and its value is no number: declare the variable with type number`,
      )
    }
    return { text: renderShell(script, known), unresolved }
  }
  const literal = LITERALS[interpreter]
  const text = script.replace(PLACEHOLDER, (placeholder, name: string) => {
    const value = known.get(name)
    return value === undefined ? placeholder : literal(value)
  })
  return { text, unresolved }
}

/** Interpreters with arithmetic that runs code in a value. */
const isShell = (interpreter: Interpreter): interpreter is 'sh' | 'bash' =>
  interpreter === 'sh' || interpreter === 'bash'

// Escapes everything except letters, digits, _, point and space. A literal then has no quote, line end or operator, so it
// cannot end a string or a comment that an author put around the template.
const LITERALS: Record<Exclude<Interpreter, 'sh' | 'bash'>, (value: string) => string> = {
  python3: (value) => `"${escaped(value, (hex) => `\\U${hex.padStart(8, '0')}`)}"`,
  node: (value) => `"${escaped(value, (hex) => `\\u{${hex}}`)}"`,
  pwsh: (value) => `"${escaped(value, (hex) => `\`u{${hex}}`)}"`,
}

function escaped(value: string, sequence: (hex: string) => string): string {
  return value.replace(/[^A-Za-z0-9_. ]/gu, (character) => sequence((character.codePointAt(0) ?? 0).toString(16)))
}
