// The page docs/configuration.md: every variable that any service reads, from the schemas that read them. It imports sources,
// which Node reads with scripts/jest/register.mjs.
import fs from 'node:fs'
import path from 'node:path'
import { code, table } from './markdown.mjs'

const root = path.resolve(import.meta.dirname, '..')
const { serviceConfig } = await import(path.join(root, 'packages/runtime/src/index.ts'))

const ORDER = [
  'gateway',
  'planner',
  'dispatcher',
  'executor-bridge',
  'log-stream',
  'orchestration-instance',
  'target-agent',
]

/** The one schema that a service's config.ts exports, with what every process reads. */
async function schemaOf(service) {
  const exported = Object.values(await import(path.join(root, 'services', service, 'src/config.ts')))
  const own = exported.filter((value) => value?.type === 'object' && value.properties !== undefined)
  if (own.length !== 1)
    throw new Error(`services/${service}/src/config.ts must export one schema; it has ${own.length}`)
  return serviceConfig(own[0])
}

/** Rows of the table: a variable once, with all its readers, unless it means something else to some of them. */
async function rows() {
  const found = new Map()
  const services = fs.readdirSync(path.join(root, 'services'))
  const unknown = services.filter((service) => !ORDER.includes(service))
  if (unknown.length > 0) throw new Error(`scripts/configuration-page.mjs does not know ${unknown.join(', ')}`)
  const present = ORDER.filter((service) => services.includes(service))
  for (const service of present) {
    const { properties, required = [] } = await schemaOf(service)
    for (const [name, property] of Object.entries(properties)) {
      if (!property.description) throw new Error(`${name} of ${service} has no description`)
      const row = { name, property, required: required.includes(name) && property.default === undefined }
      const key = JSON.stringify(row)
      if (!found.has(key)) found.set(key, { ...row, readers: [] })
      found.get(key).readers.push(service)
    }
  }
  return [...found.values()]
    .sort((a, b) => b.readers.length - a.readers.length)
    .map((row) => ({ ...row, all: row.readers.length === present.length }))
}

function cells({ name, property, required, readers, all }) {
  const { default: value, examples, description, expects, writeOnly } = property
  const example = examples?.find((each) => each !== value)
  return [
    code(name),
    required ? '**required**' : value === undefined || value === '' ? 'none' : code(value),
    `${description}${expects ? `. Must be ${expects}` : ''}`.replaceAll('|', '\\|'),
    example === undefined || example === '' ? '' : code(example),
    writeOnly ? 'yes' : '',
    all ? 'all' : readers.join(', '),
  ]
}

const HEAD = ['variable', 'default', 'meaning', 'example', 'secret', 'read by']
export const configurationPage = async () => `# Configuration

Made from the schemas by \`make configuration\`: change those, not this page.

Every service reads environment variables and nothing else. Each may come from a file instead: \`<NAME>_FILE\` names it, as
for secrets that an orchestrator mounts. Empty means not set. A service whose configuration is missing something or is wrong
does not start: it ends with 78 and names each variable, what is wrong with it and an example. A value marked as secret, or
one that may hold a password, is never printed.

What the values mean in operation stands in [operations.md](operations.md#settings).

${table([HEAD, ...(await rows()).map(cells)])}
`
