import type { IdKind } from '@slipway/contracts'
import { type FieldError, isUuid, validationProblem } from '@slipway/domain'
import { recordKey } from './references.ts'

/** A filter by one record. Both fields are null for no condition. The result is null if the text cannot name a record. */
export function recordFilter(
  kind: IdKind,
  text: string | undefined,
): { id: string | null; number: number | null } | null {
  const key = text === undefined ? {} : recordKey(kind, text)
  return key && { id: null, number: null, ...key }
}

/**
 * The values of `amongColumns`: the records of a list of ids. Texts that can name no record are left out. `kind`: null for records without
 * short ids.
 */
export function idsFilter(kind: IdKind | null, text: string | undefined) {
  if (text === undefined) return { among_ids: null, among_numbers: [] }
  const keys = text.split(',').flatMap((id) => {
    const key = kind === null ? (isUuid(id) ? { id } : null) : recordKey(kind, id)
    return key ?? []
  })
  return {
    among_ids: keys.flatMap((key) => ('id' in key ? [key.id] : [])),
    among_numbers: keys.flatMap((key) => ('number' in key ? [key.number] : [])),
  }
}

/** The same for Prisma. */
export function amongIds(kind: IdKind | null, text: string | undefined): object {
  const { among_ids, among_numbers } = idsFilter(kind, text)
  if (among_ids === null) return {}
  const numbered = among_numbers.length === 0 ? [] : [{ number: { in: among_numbers } }]
  return { OR: [{ id: { in: among_ids } }, ...numbered] }
}

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

/** The values of `tagColumns`. The key ends at the first equals sign. Without one, every value matches. */
export function tagFilter(text: string | undefined) {
  const [, tag_key = null, , tag_value = null] = /^([^=]+)(=(.*))?$/s.exec(text ?? '') ?? []
  return { tag_key, tag_value }
}

/**
 * The moments of these query parameters; null for an absent one.
 * @throws Problem VALIDATION_ERROR for well-formed timestamps that do not exist, such as a leap second
 */
export function momentsOf<Name extends string>(texts: Record<Name, string | undefined>): Record<Name, Date | null> {
  const moments = Object.entries<string | undefined>(texts).map(
    ([name, text]) => [name, text === undefined ? null : new Date(text)] as const,
  )
  const problems = moments.flatMap(([name, moment]): FieldError[] =>
    Number.isNaN(moment?.getTime()) ? [{ path: `query/${name}`, message: 'must be a moment that exists' }] : [],
  )
  if (problems.length > 0) throw validationProblem(problems)
  return Object.fromEntries(moments) as Record<Name, Date | null>
}
