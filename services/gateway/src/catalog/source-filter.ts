import { int4, nullable, sourceKind, uuid } from '@slipway/database'
import { validationProblem } from '@slipway/domain'
import { isRecordSql, recordFilter } from './record-id.ts'

export const SOURCE_FIELDS = { solution_id: 'solution', sequence_id: 'sequence', action_id: 'action' } as const
const NAMES = Object.keys(SOURCE_FIELDS) as (keyof typeof SOURCE_FIELDS)[]

/** The parameters of `ofSourceSql`. Null means no condition. */
export const sourceColumns = {
  of_source_kind: nullable(sourceKind),
  of_source: nullable(uuid),
  of_source_number: nullable(int4),
}

/** SQL: whether a deployment or a release is of the source of the filter. */
export const ofSourceSql = (alias: string) =>
  `(:of_source_kind::source_kind IS NULL OR ${alias}.source_type = :of_source_kind) AND ` +
  isRecordSql(`${alias}.source_id`, 'sources', 'of_source')

/**
 * What the statements filter by; null if the id cannot name a source.
 * @throws Problem VALIDATION_ERROR for more than one source
 */
export function sourceFilter(
  given: Partial<Record<keyof typeof SOURCE_FIELDS, string>>,
  place: 'query' | '' = 'query',
) {
  const [field, second] = NAMES.filter((name) => given[name] !== undefined)
  if (second !== undefined) {
    throw validationProblem([{ path: `${place}/${second}`, message: `give at most one of ${NAMES.join(', ')}` }])
  }
  if (field === undefined) return { of_source_kind: null, of_source: null, of_source_number: null }
  const source = recordFilter(SOURCE_FIELDS[field], given[field])
  return source && { of_source_kind: SOURCE_FIELDS[field], of_source: source.id, of_source_number: source.number }
}
