// Writes the tables of docs/catalog.md from the schemas of the files that `slipway apply` reads: `make catalog`.
// The text between the tables is written by hand, in the page itself.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { code, table } from '../../../scripts/markdown.mjs'

export const PAGE = fileURLToPath(new URL('../../../docs/catalog.md', import.meta.url))
const PLACE = /<!-- fields: (\S+)(?: (\S+))? -->\n.*?<!-- end -->/gs
const HEAD = ['field', 'type', 'default', 'meaning', 'example']

/** The page with the tables of these schemas in the places that it has for them. Throws if an object has no table. */
export function withTables(page, schemas) {
  const links = new Map()
  for (const { index, 1: path, 2: variant } of page.matchAll(PLACE)) {
    links.set(keyOf(findSchema(schemas, path, variant)), linkToHeading(page.slice(0, index)))
  }
  for (const [kind, schema] of Object.entries(schemas)) {
    if (!links.has(keyOf(schema)))
      throw new Error(`${PAGE} has no place for the kind ${kind}: <!-- fields: ${kind} -->`)
  }
  return page.replaceAll(PLACE, (_, path, variant) => {
    const place = `<!-- fields: ${path}${variant === undefined ? '' : ` ${variant}`} -->`
    return `${place}\n\n${renderTable(findSchema(schemas, path, variant), links)}\n\n<!-- end -->`
  })
}

const keyOf = (schema) => JSON.stringify(schema)

/** Finds `target.connection`, with a variant the one for `type: VARIANT` or `operator: VARIANT`. */
function findSchema(schemas, path, variant) {
  const [kind, ...fields] = path.split('.')
  const schema = fields.reduce((here, field) => inside(inside(here)?.properties?.[field]), schemas[kind])
  const found = variant === undefined ? schema : variantsOf(schema ?? {}).find((one) => tagsOf(one).includes(variant))
  if (found?.properties === undefined) throw new Error(`${PAGE}: no file has ${path} ${variant ?? ''}`)
  return found
}

/** The schema of an entry of a list, or of what is not null. */
function inside(schema) {
  if (schema?.type === 'array') return inside(schema.items)
  if (schema?.else !== undefined) return inside(schema.else)
  return schema
}

/** What `type` or `operator` chooses from. */
const variantsOf = ({ allOf = [] }) => allOf.map((one) => one.then)
const tagsOf = ({ properties: { type, operator } }) => {
  const tag = type ?? operator
  return tag.enum ?? [tag.const]
}

function linkToHeading(before) {
  const heading = [...before.matchAll(/^#+ (.*)$/gm)].at(-1)?.[1] ?? ''
  return `[${heading}](#${heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-')})`
}

function renderTable({ properties, required = [] }, links) {
  const rows = Object.entries(properties).map(([name, schema]) => [
    code(name),
    typeOf(schema, links),
    required.includes(name) ? '**required**' : formatDefault(schema.default),
    (schema.description ?? '').replaceAll('|', '\\|'),
    formatExample(schema),
  ])
  return table([HEAD, ...rows])
}

function formatDefault(value) {
  return value === undefined ? 'none' : code(JSON.stringify(value).replace(/^"(.*)"$/, '$1'))
}

/** An object has a table with an example above it. */
function formatExample(schema) {
  const { const: only, default: byDefault, examples = [] } = schema
  if (only !== undefined || isObject(inside(schema))) return ''
  const example = examples.find((one) => one !== null && one !== byDefault)
  if (example === undefined) return ''
  return code(typeof example === 'string' && !/\n/.test(example) ? example : JSON.stringify(example))
}

const isObject = (schema) => schema.properties !== undefined

const FORMATS = {
  name: 'name',
  version: 'version',
  'version-requirement': 'version range',
  uuid: 'UUID',
  'date-time': 'timestamp',
}
const format = (number) => number.toLocaleString('en')
const range = (from, to) => (from === undefined ? `at most ${format(to)}` : `${format(from)} to ${format(to)}`)
const limit = (from, to, unit = '') => (to === undefined ? '' : `, ${range(from, to)}${unit}`)

function typeOf(schema, links) {
  const { type, const: only, enum: values, anyOf, items } = schema
  if (only !== undefined) return code(only)
  if (values !== undefined) return values.map(code).join(', ')
  if (anyOf !== undefined) return anyOf.map((one) => (one.type === 'null' ? '`null`' : typeOf(one, links))).join(' or ')
  if (schema.else !== undefined) return `${typeOf(schema.else, links)} or \`null\``
  switch (type) {
    case 'string':
      return FORMATS[schema.format] ?? `text${limit(undefined, schema.maxLength, ' characters')}`
    case 'integer':
      return `whole number${limit(schema.minimum, schema.maximum)}`
    case 'number':
      return `number${limit(schema.minimum, schema.maximum)}`
    case 'boolean':
      return '`true`, `false`'
    case 'array':
      return `list (${range(schema.minItems, schema.maxItems)}) of ${typeOf(items, links)}`
    case 'object':
      return typeOfObject(schema, links)
    default:
      return 'any value'
  }
}

function typeOfObject(schema, links) {
  const [value] = Object.values(schema.patternProperties ?? {})
  if (value !== undefined) return `map (${range(undefined, schema.maxProperties)}) of ${typeOf(value, links)}`
  const objects = schema.allOf === undefined ? [schema] : variantsOf(schema)
  return objects
    .map((one) => {
      const link = links.get(keyOf(one))
      if (link === undefined) throw new Error(`${PAGE} has no table for the fields ${Object.keys(one.properties)}`)
      return link
    })
    .join(' or ')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { SCHEMAS } = await import('../dist/files/schemas.js')
  writeFileSync(PAGE, withTables(readFileSync(PAGE, 'utf8'), SCHEMAS))
}
