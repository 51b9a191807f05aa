/**
 * A definition as lines that resemble YAML, because JSON shows a script of many lines as one line. The ids that the server
 * gives to variables are left out: they would hide the differences between versions that people wrote.
 */
export function definitionLines(definition: unknown): string[] {
  return isCollection(definition) ? collectionLines(withoutVariableIds(definition), '') : [scalarText(definition)]
}

function withoutVariableIds(definition: Collection): Collection {
  if (Array.isArray(definition) || !Array.isArray(definition['variables'])) return definition
  const variables = (definition['variables'] as { id?: string }[]).map(({ id: _, ...variable }) => variable)
  return { ...definition, variables }
}

type Collection = unknown[] | Record<string, unknown>

const isCollection = (value: unknown): value is Collection =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0

const INDENT = '  '

function collectionLines(value: Collection, indent: string): string[] {
  return Array.isArray(value)
    ? value.flatMap((item) => entryLines(`${indent}-`, item, indent + INDENT))
    : Object.entries(value).flatMap(([key, item]) => entryLines(`${indent}${keyText(key)}:`, item, indent + INDENT))
}

/** The head (`- ` or `key:`) with its value, on the same line or below. */
function entryLines(head: string, value: unknown, indent: string): string[] {
  if (isCollection(value)) {
    const lines = collectionLines(value, indent)
    const first = lines[0] ?? ''
    // The first field of an item of a list stands behind the dash.
    return head.endsWith('-') ? [`${head} ${first.slice(indent.length)}`, ...lines.slice(1)] : [head, ...lines]
  }
  if (typeof value === 'string' && value.includes('\n')) {
    const text = value.endsWith('\n') ? value.slice(0, -1) : value
    const sign = value.endsWith('\n') ? '|' : '|-'
    return [`${head} ${sign}`, ...text.split('\n').map((line) => (line === '' ? '' : indent + line))]
  }
  return [`${head} ${scalarText(value)}`]
}

const keyText = (key: string) => (/^[A-Za-z_$][\w$-]*$/.test(key) ? key : JSON.stringify(key))

/** Text in quotes where YAML would read it as something else. */
function scalarText(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value) ?? 'null'
  const isPlain = /^[A-Za-z./][\w ./@+-]*$/.test(value) && !/^(true|false|null|yes|no|on|off)$|\s$/i.test(value)
  return isPlain ? value : JSON.stringify(value)
}
