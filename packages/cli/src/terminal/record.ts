import { sanitize } from './controls.ts'
import { formatFacts, formatTime } from './table.ts'
import { formatYaml } from './yaml.ts'

const TIME = /_(at|time|since)$/
/** The values of these fields are what people wrote, so a time in them stays as it is. */
const WRITTEN: ReadonlySet<string> = new Set(['definition', 'variables'])

/** Returns all fields of a record as lines. Values with a structure of their own follow as YAML. */
export function formatRecord(kind: string, record: object, getName: (id: string) => string | null): string[] {
  const { id, sqid, name, ...others } = record as Record<string, unknown>
  const fields = Object.entries(others).filter(([, value]) => !isEmpty(value))
  const simple = fields.filter(([, value]) => !isStructure(value))
  const structures = fields.filter(([, value]) => isStructure(value))
  return [
    ...formatFacts([
      [kind, typeof name === 'string' ? sanitize(name) : null],
      ['id', id === undefined ? null : `${id}${sqid === undefined ? '' : ` (${sqid})`}`],
      ...simple.map(([field, value]) => formatFact(field, value, getName)),
    ]),
    ...structures.flatMap(([field, value]) => [
      `${formatLabel(field)}:`,
      ...formatYaml(WRITTEN.has(field) ? value : localizeFields(value))
        .trimEnd()
        .split('\n')
        .map((line) => `  ${sanitize(line)}`),
    ]),
  ]
}

const LABELS: Record<string, string> = { unreachable_since: 'not reached since' }

const formatLabel = (field: string) => LABELS[field] ?? field.replace(/_(id|at)$/, '').replaceAll('_', ' ')

function formatFact(field: string, value: unknown, getName: (id: string) => string | null): [string, string] {
  if (typeof value === 'string' && TIME.test(field)) return [formatLabel(field), formatTime(value)]
  if (typeof value === 'string' && field.endsWith('_id')) return [formatLabel(field), sanitize(getName(value) ?? value)]
  if (typeof value === 'boolean') return [formatLabel(field), value ? 'yes' : 'no']
  return [formatLabel(field), sanitize(Array.isArray(value) ? value.join(', ') : String(value))]
}

/** Returns the value with the times in its fields as times of this machine's zone. */
function localizeFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(localizeFields)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).map(([field, one]): [string, unknown] => {
    if (WRITTEN.has(field)) return [field, one]
    return [field, typeof one === 'string' && TIME.test(field) ? formatTime(one) : localizeFields(one)]
  })
  return Object.fromEntries(fields)
}

const isStructure = (value: unknown) =>
  Array.isArray(value) ? value.some((one) => typeof one === 'object') : typeof value === 'object'

const isEmpty = (value: unknown) =>
  value === null ||
  value === undefined ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0)
