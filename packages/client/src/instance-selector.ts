import type { Schema } from './types.ts'

type Selector = Schema<'InstanceSelector'>
type Expression = Schema<'LabelExpression'>

/** The text is no selector. The message says which part is wrong. */
export class SelectorSyntaxError extends Error {}

const WORD = /"(?:[^"\\]|\\.)*"|[^\s,=!()"]+/y
const SPACE = /\s*/y

/**
 * Reads the notation that Kubernetes has for label selectors: `zone=a, disk in (hdd,ssd), env!=prod, gpu, !spot`. Keys and values
 * with blanks or signs are written in double quotes. Null for a text without conditions, which stands for any instance.
 * @throws SelectorSyntaxError
 */
export function parseSelector(text: string): Selector | null {
  const match_labels: Record<string, string> = {}
  const match_expressions: Expression[] = []
  const reader = new Reader(text)
  if (reader.isAtEnd()) return null
  do {
    const condition = readCondition(reader)
    const { key, operator } = condition
    const [value, ...others] = operator === 'In' ? condition.values : []
    if (value === undefined || others.length > 0 || Object.hasOwn(match_labels, key)) match_expressions.push(condition)
    else match_labels[key] = value
  } while (reader.take(','))
  if (!reader.isAtEnd()) throw reader.expected('a comma between conditions')
  return {
    ...(Object.keys(match_labels).length > 0 ? { match_labels } : {}),
    ...(match_expressions.length > 0 ? { match_expressions } : {}),
  }
}

function readCondition(reader: Reader): Expression {
  if (reader.take('!')) return { key: reader.word('a label'), operator: 'DoesNotExist' }
  const key = reader.word('a label')
  if (reader.take('!=')) return { key, operator: 'NotIn', values: [reader.value()] }
  if (reader.take('==') || reader.take('=')) return { key, operator: 'In', values: [reader.value()] }
  if (reader.takeWord('in')) return { key, operator: 'In', values: reader.list() }
  if (reader.takeWord('notin')) return { key, operator: 'NotIn', values: reader.list() }
  return { key, operator: 'Exists' }
}

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  isAtEnd(): boolean {
    this.#skipSpace()
    return this.#at === this.#text.length
  }

  take(sign: string): boolean {
    this.#skipSpace()
    if (!this.#text.startsWith(sign, this.#at)) return false
    this.#at += sign.length
    return true
  }

  takeWord(word: string): boolean {
    const before = this.#at
    if (this.#match() === word) return true
    this.#at = before
    return false
  }

  word(what: string): string {
    const word = this.#match()
    if (word === undefined) throw this.expected(what)
    if (!word.startsWith('"')) return word
    try {
      return JSON.parse(word) as string
    } catch {
      throw new SelectorSyntaxError(`${word} is not a text in quotes`)
    }
  }

  /** A value may be empty, as in `zone=`. */
  value(): string {
    this.#skipSpace()
    const next = this.#text[this.#at]
    return next === undefined || next === ',' || next === ')' ? '' : this.word('a value')
  }

  list(): string[] {
    if (!this.take('(')) throw this.expected('values in parentheses')
    const values = [this.value()]
    while (this.take(',')) values.push(this.value())
    if (!this.take(')')) throw this.expected('a closing parenthesis')
    return values
  }

  expected(what: string): SelectorSyntaxError {
    const rest = this.#text.slice(this.#at).trim()
    return new SelectorSyntaxError(`Expected ${what} ${rest === '' ? 'at the end' : `at "${rest.slice(0, 20)}"`}`)
  }

  #match(): string | undefined {
    this.#skipSpace()
    WORD.lastIndex = this.#at
    const word = WORD.exec(this.#text)?.[0]
    if (word !== undefined) this.#at += word.length
    return word
  }

  #skipSpace(): void {
    SPACE.lastIndex = this.#at
    this.#at += SPACE.exec(this.#text)?.[0].length ?? 0
  }
}

/** The reverse of `parseSelector`. */
export function formatSelector(selector: Selector | null): string {
  const { match_labels = {}, match_expressions = [] } = selector ?? {}
  const conditions = [
    ...Object.entries(match_labels).map(([key, value]) => `${quoted(key)}=${quoted(value)}`),
    ...match_expressions.map(formatExpression),
  ]
  return conditions.join(', ')
}

function formatExpression(expression: Expression): string {
  const key = quoted(expression.key)
  if (!('values' in expression)) return expression.operator === 'Exists' ? key : `!${key}`
  const isIn = expression.operator === 'In'
  const listed = expression.values.map(quoted)
  if (listed.length === 1) return `${key}${isIn ? '=' : '!='}${listed[0]}`
  return `${key} ${isIn ? 'in' : 'notin'} (${listed.join(',')})`
}

const quoted = (text: string) => (/^[^\s,=!()"]*$/.test(text) ? text : JSON.stringify(text))
