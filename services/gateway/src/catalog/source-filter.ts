import { validationProblem } from '@slipway/domain'
import { recordFilter } from './record-id.ts'

export const SOURCE_FIELDS = { solution_id: 'solution', sequence_id: 'sequence', action_id: 'action' } as const
const NAMES = Object.keys(SOURCE_FIELDS) as (keyof typeof SOURCE_FIELDS)[]

/**
 * The values of `sourceColumns`; null if the id cannot name a source.
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
