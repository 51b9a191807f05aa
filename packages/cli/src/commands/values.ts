import { findChangedDigits } from '@slipway/client'
import { InvalidArgumentError } from 'commander'
import { LineCounter, parseDocument } from 'yaml'
import { RefusedError } from '../exit-code.ts'
import { NotUtf8Error, readTextFile } from '../files/text-file.ts'
import { findYamlProblems } from '../files/yaml-problems.ts'

/** Parsers for the values of options. They throw InvalidArgumentError; Commander adds the name of the option. */

export type Values = Record<string, unknown>

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/

/** Removes fields that are undefined. */
export const omitUndefined = <T extends object>(values: { [K in keyof T]: T[K] | undefined }): T =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T

/** Collects the values of an option that can be repeated. */
export const collect =
  <T>(read: (text: string) => T) =>
  (text: string, before: T[] | undefined): T[] => [...(before ?? []), read(text)]

/** Rejects a second value. Without this check, Commander drops the first one silently. */
export const parseOnce =
  <T>(read: (text: string) => T) =>
  (text: string, before: T | undefined): T => {
    if (before !== undefined) throw new InvalidArgumentError('Give it only once.')
    return read(text)
  }

/** Parses `NAME=TEXT`, or `NAME:=JSON` for numbers, booleans and structures. */
export function parseAssignment(text: string): [string, unknown] {
  const [, name = '', operator, value = ''] = /^([^=:]*)(:?=)(.*)$/s.exec(text) ?? []
  if (operator === undefined) throw new InvalidArgumentError('Write it as NAME=TEXT, or as NAME:=JSON.')
  if (!NAME.test(name))
    throw new InvalidArgumentError(`"${name}" is not a name: use letters, digits and _, no digit first.`)
  if (operator === '=') return [name, value]
  let parsed: unknown
  try {
    parsed = JSON.parse(value)
  } catch {
    throw new InvalidArgumentError(`"${value}" is not JSON: write JSON after :=, such as 80, true or "text".`)
  }
  const changed = findChangedDigits(value)
  if (changed === null) return [name, parsed]
  const before = text.slice(0, text.length - value.length + changed).split('\n')
  const place = `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`
  throw new InvalidArgumentError(
    `The number at ${place} would not arrive with the digits that are written: write it in quotes, or as a text with ${name}=TEXT.`,
  )
}

export function parseTag(text: string): { key: string; value: string } {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (key === undefined || value === undefined) throw new InvalidArgumentError('Write it as KEY=VALUE.')
  return { key, value }
}

export function parseTargetMode(text: string): 'sequential' | 'parallel' | { rolling: { batch_size: number } } {
  if (text === 'sequential' || text === 'parallel') return text
  const [, size] = /^rolling:([1-9][0-9]{0,5})$/.exec(text) ?? []
  if (size === undefined) throw new InvalidArgumentError('Allowed are sequential, parallel and rolling:N.')
  return { rolling: { batch_size: Number(size) } }
}

export const parseIntegerBetween =
  (from: number, to: number) =>
  (text: string): number => {
    const value = Number(text)
    if (!/^[+-]?[0-9]+$/.test(text) || value < from || value > to) {
      throw new InvalidArgumentError(`Allowed are whole numbers from ${from} to ${to}.`)
    }
    return value
  }

const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Parses `90s`, `10m` or `1h` into milliseconds. Without a unit, the number means seconds. */
export function parseDuration(text: string): number {
  const [, number, unit = 's'] = /^([0-9]{1,9}(?:\.[0-9]+)?)(ms|s|m|h|d)?$/.exec(text) ?? []
  if (number === undefined) throw new InvalidArgumentError('Write it as 90s, 10m, 1h or 2d.')
  return Number(number) * (UNITS[unit] ?? 0)
}

/** Parses a duration into whole seconds. */
export const parseSeconds = (text: string): number => Math.round(parseDuration(text) / 1_000)

/** Parses `KEY=VALUE`, which allows one value of a label, or `KEY`, which allows any value. */
export function parseAllowedLabel(text: string): [string, string | null] {
  const [, key, value = null] = /^([^=,]+)(?:=([^,]*))?$/.exec(text) ?? []
  if (key === undefined) throw new InvalidArgumentError('Write it as KEY=VALUE or KEY, without commas.')
  return [key, value]
}

/** Reads variables from files and options. A later value replaces an earlier one, and options replace files. */
export function readVariables(
  files: readonly string[] = [],
  given: readonly [string, unknown][] = [],
): Values | undefined {
  if (files.length === 0 && given.length === 0) return undefined
  return Object.assign({}, ...files.map(readVariableFile), Object.fromEntries(given)) as Values
}

/** Reads a mapping in YAML or JSON, or lines of NAME=TEXT. */
function readVariableFile(file: string): Values {
  let text: string
  try {
    text = readTextFile(file)
  } catch (error) {
    if (error instanceof NotUtf8Error) throw new RefusedError(`${file}:${error.line}: ${error.message}`)
    throw new RefusedError(`--var-file ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  return /\.(ya?ml|json)$/.test(file) ? parseMapping(file, text) : parseLines(file, text)
}

function parseMapping(file: string, text: string): Values {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { lineCounter })
  const problems = findYamlProblems(document).map(({ offset, message }) => {
    const { line, col } = lineCounter.linePos(offset)
    return `${file}:${line}:${col}: ${message}`
  })
  if (problems.length > 0) throw new RefusedError(problems.join('\n'))
  const values: unknown = document.toJS()
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    throw new RefusedError(`${file}:1: must be a mapping of names to values`)
  }
  return values as Values
}

function parseLines(file: string, text: string): Values {
  const values: Values = {}
  for (const [n, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(#.*)?$/.test(line)) continue
    const [, name, value] = /^\s*([A-Za-z_][A-Za-z0-9_]{0,127})=(.*)$/.exec(line) ?? []
    if (name === undefined) throw new RefusedError(`${file}:${n + 1}: must be NAME=TEXT`)
    values[name] = value
  }
  return values
}
