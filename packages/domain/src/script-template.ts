import { type Static, Type } from '@sinclair/typebox'
import type { ActionDefinition } from './definitions.ts'
import type { VariableValues } from './plan-schema.ts'
import { literals, Strict } from './schema.ts'
import { toText } from './variables.ts'

/**
 * How a value is written at a place of a script. In a shell the place gets a reference to a variable that holds the value:
 * a shell never runs the result of an expansion. In other languages it gets the value as a literal of its type, or escaped
 * inside of a string.
 */
const ENCODINGS = [
  'shell-word',
  'shell-quoted',
  'shell-single',
  'shell-ansi',
  'python-string',
  'python-bytes',
  'python-value',
  'node-string',
  'node-value',
  'pwsh-string',
  'pwsh-verbatim',
  'pwsh-value',
] as const
export type Encoding = (typeof ENCODINGS)[number]

/** Positions are UTF-16 units from the beginning of the script. */
export const TemplatePlace = Strict({
  name: Type.String(),
  start: Type.Integer(),
  end: Type.Integer(),
  encoding: literals([...ENCODINGS]),
  /** The program evaluates this place: only an integer, or only a number, cannot become code there. */
  only: Type.Optional(literals(['integer', 'number'])),
  line: Type.Integer(),
  column: Type.Integer(),
})

export const RefusedPlace = Strict({
  name: Type.String(),
  line: Type.Integer(),
  column: Type.Integer(),
  reason: Type.String(),
})

const Span = Strict({ start: Type.Integer(), end: Type.Integer() })

/** A here-document with a quoted delimiter. It becomes one that expands references, with everything else in it escaped. */
const LiteralDocument = Strict({ body: Span, opening: Span, closing: Span, delimiter: Type.String() })

/** Where values are inserted into a script. Made once, when a version is published. */
export const ScriptTemplate = Strict({
  places: Type.Array(TemplatePlace),
  refused: Type.Array(RefusedPlace),
  documents: Type.Array(LiteralDocument),
})

/** The templates of the scripts of an action. */
export const ActionTemplates = Strict({
  script: ScriptTemplate,
  rollback: Type.Optional(ScriptTemplate),
  check: Type.Optional(ScriptTemplate),
})

export type TemplatePlace = Static<typeof TemplatePlace>
export type RefusedPlace = Static<typeof RefusedPlace>
export type LiteralDocument = Static<typeof LiteralDocument>
export type ScriptTemplate = Static<typeof ScriptTemplate>
export type ActionTemplates = Static<typeof ActionTemplates>

/** The names in a template, without duplicates. */
export const namesIn = ({ places, refused }: ScriptTemplate): string[] => [
  ...new Set([...places, ...refused].map(({ name }) => name)),
]

const INTEGER = /^-?(0|[1-9]\d*)$/
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

/** Why this value must not be inserted, or null. */
export function valueProblem(template: ScriptTemplate, name: string, text: string): string | null {
  const refused = template.refused.find((place) => place.name === name)
  if (refused !== undefined) return `{{ ${name} }} in line ${refused.line}, column ${refused.column} ${refused.reason}`
  const isWrong = ({ only }: TemplatePlace) =>
    (only === 'integer' && !INTEGER.test(text)) || (only === 'number' && !NUMBER.test(text))
  const place = template.places.find((place) => place.name === name && isWrong(place))
  if (place === undefined) return null
  const kind = place.only === 'integer' ? 'an integer' : 'a number'
  return `{{ ${name} }} in line ${place.line}, column ${place.column} is evaluated there, and its value is not ${kind}`
}

/** A value must not be inserted where it stands. */
export class UnsafeTemplate extends Error {
  override name = 'UnsafeTemplate'
}

/**
 * Inserts values into a script. A template without a value stays as it stands.
 * @throws UnsafeTemplate for a value that could become code
 */
export function insertValues(script: string, template: ScriptTemplate, values: VariableValues): string {
  const texts = new Map(
    namesIn(template).flatMap((name) => (Object.hasOwn(values, name) ? [[name, toText(values[name])] as const] : [])),
  )
  for (const [name, text] of texts) {
    const problem = valueProblem(template, name, text)
    if (problem !== null) throw new UnsafeTemplate(problem)
  }
  const places = template.places.filter(({ name }) => texts.has(name))
  const edits = [
    ...places.map((place) => placeEdit(place, texts.get(place.name) ?? '', values[place.name])),
    ...documentEdits(script, template, places),
  ]
  edits.sort((a, b) => a.start - b.start || a.end - b.end)
  const pieces: string[] = []
  let position = 0
  for (const { start, end, text } of edits) {
    pieces.push(script.slice(position, start), text)
    position = end
  }
  pieces.push(script.slice(position))
  const assignments = new Map(
    places.filter(({ encoding }) => isShell(encoding)).map(({ name }) => [name, texts.get(name) ?? '']),
  )
  return [...assignments].map(([name, text]) => `${reference(name)}=${singleQuoted(text)}; `).join('') + pieces.join('')
}

interface Edit {
  start: number
  end: number
  text: string
}

const isShell = (encoding: Encoding) => encoding.startsWith('shell-')
const reference = (name: string) => `slipway_template_${name}`
const singleQuoted = (value: string) => `'${value.replaceAll("'", "'\\''")}'`

/** Here-documents that get a value become ones that the shell expands. */
function documentEdits(script: string, { documents }: ScriptTemplate, places: readonly TemplatePlace[]): Edit[] {
  const isFilled = ({ body }: LiteralDocument) => places.some(({ start }) => start >= body.start && start < body.end)
  return documents.filter(isFilled).flatMap(({ body, opening, closing, delimiter }) => [
    { ...opening, text: delimiter },
    { ...closing, text: delimiter },
    ...Array.from(script.slice(body.start, body.end).matchAll(/[\\$`]/g), ({ index }) => {
      const at = body.start + index
      return { start: at, end: at, text: '\\' }
    }),
  ])
}

const placeEdit = ({ name, start, end, encoding }: TemplatePlace, text: string, value: unknown): Edit => ({
  start,
  end,
  text: ENCODE[encoding](text, name, value),
})

const expansion = (name: string) => `\${${reference(name)}}`

/** `text` is the value as a text; `value` is typed. */
const ENCODE: Record<Encoding, (text: string, name: string, value: unknown) => string> = {
  'shell-word': (_, name) => `"${expansion(name)}"`,
  'shell-quoted': (_, name) => expansion(name),
  'shell-single': (_, name) => `'"${expansion(name)}"'`,
  'shell-ansi': (_, name) => `'"${expansion(name)}"$'`,
  'python-string': pythonEscaped,
  'python-bytes': (value) => Array.from(Buffer.from(value), byteEscape).join(''),
  'python-value': (_text, _name, value) => pythonLiteral(value),
  'node-string': nodeEscaped,
  'node-value': (_text, _name, value) => nodeLiteral(value),
  'pwsh-string': pwshEscaped,
  // PowerShell takes these five characters for a single quote.
  'pwsh-verbatim': (value) => value.replace(/['‘’‚‛]/g, '$&$&'),
  'pwsh-value': (_text, _name, value) => pwshLiteral(value),
}

/** In parentheses, because `5.toFixed()` and `2--1` are no JavaScript. */
const numberLiteral = (value: number) => `(${JSON.stringify(value)})`

function pythonLiteral(value: unknown): string {
  if (typeof value === 'number') return numberLiteral(value)
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (value === null) return 'None'
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(', ')}]`
  if (typeof value !== 'object') return `"${pythonEscaped(toText(value))}"`
  const entries = Object.entries(value).map(([key, item]) => `${pythonLiteral(key)}: ${pythonLiteral(item)}`)
  return `{${entries.join(', ')}}`
}

/** An object is parsed: in a literal, the key `__proto__` would set the prototype. */
function nodeLiteral(value: unknown): string {
  if (typeof value === 'number') return numberLiteral(value)
  if (typeof value === 'boolean' || value === null) return String(value)
  const literal = `"${nodeEscaped(toText(value))}"`
  return typeof value === 'object' ? `JSON.parse(${literal})` : literal
}

/** PowerShell has no literal that is written like JSON: lists and objects stay texts for ConvertFrom-Json. */
function pwshLiteral(value: unknown): string {
  if (typeof value === 'number') return numberLiteral(value)
  if (typeof value === 'boolean' || value === null) return `$${value}`
  return `"${pwshEscaped(toText(value))}"`
}

const byteEscape = (byte: number) => `\\x${byte.toString(16).padStart(2, '0')}`

// Everything but letters, digits, _, point and space is escaped: no quote, line end or operator is left.
function escaped(value: string, sequence: (hex: string) => string): string {
  return value.replace(/[^A-Za-z0-9_. ]/gu, (character) => sequence((character.codePointAt(0) ?? 0).toString(16)))
}
function pythonEscaped(value: string): string {
  return escaped(value, (hex) => `\\U${hex.padStart(8, '0')}`)
}
function nodeEscaped(value: string): string {
  return escaped(value, (hex) => `\\u{${hex}}`)
}
function pwshEscaped(value: string): string {
  return escaped(value, (hex) => `\`u{${hex}}`)
}

/** A version of an action with the places of its scripts in which values are inserted. */
export interface PublishedAction extends ActionDefinition {
  /** Null if the version was stored without them. */
  places: ActionTemplates | null
}
