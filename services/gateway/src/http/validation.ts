import type { IncomingHttpHeaders } from 'node:http'
import {
  compile,
  IdempotencyKey,
  OPERATIONS,
  type Operation,
  type OperationId,
  type SchemaProblem,
  Strict,
} from '@slipway/contracts'
import { findChangedNumbers, hasUnstorableText, missingFieldProblem, pointer, validationProblem } from '@slipway/domain'
import { isObject, type JsonBody } from '@slipway/http'
import type { Check } from '../handler.ts'

/** UTF-8 has neither NUL in a JSON text nor half a surrogate pair, so only an escape brings them. */
const UNSTORABLE_ESCAPE = /\\u(?:0000|d[89a-f])/i
const MAX_NUMBER_PROBLEMS = 100

type Validate = (value: unknown) => SchemaProblem[]

const validateKey = compile(IdempotencyKey)

interface Validators {
  query: Validate
  body: Validate | null
}

const validators = new Map<OperationId, Validators>()
for (const [id, operation] of Object.entries(OPERATIONS) as [OperationId, Operation][]) {
  validators.set(id, {
    query: compile(operation.query ?? Strict({})),
    body: operation.body === undefined ? null : compile(operation.body),
  })
}

/**
 * Validates query, headers and body of a call and returns the query. Reports all errors at once.
 * @throws Problem MISSING_FIELD if all errors are absent fields, else VALIDATION_ERROR
 */
export function validate(
  id: OperationId,
  { search, headers, body }: { search: string; headers: IncomingHttpHeaders; body: JsonBody },
  check: Check | undefined,
): Record<string, string> {
  const { query: validateQuery, body: validateBody } = validators.get(id) as Validators
  const { values, problems: malformed } = parseQuery(search)
  const problems: SchemaProblem[] = [
    ...malformed,
    ...validateQuery(values).map(({ path, message }) => ({ path: `query${path}`, message })),
    ...findKeyProblems(OPERATIONS[id], headers['idempotency-key']),
  ]
  if (validateBody !== null) {
    const { value, text } = body
    problems.push(...validateBody(value), ...findChangedNumbers(text, MAX_NUMBER_PROBLEMS))
    if (UNSTORABLE_ESCAPE.test(text)) problems.push(...findUnstorable(value))
    if (check !== undefined && isObject(value)) problems.push(...check(value))
  }
  if (problems.length > 0) throw toProblem(problems)
  return values
}

function findKeyProblems({ idempotent }: Operation, key: unknown): SchemaProblem[] {
  if (!idempotent || key === undefined || validateKey(key).length === 0) return []
  return [{ path: `header${pointer('Idempotency-Key')}`, message: 'must be 1 to 255 visible characters, given once' }]
}

/** Requires each parameter once and not empty. The schema checks the values. */
function parseQuery(search: string): { values: Record<string, string>; problems: SchemaProblem[] } {
  const parameters = new URLSearchParams(search)
  const problems: SchemaProblem[] = []
  const add = (name: string, message: string) => problems.push({ path: `query${pointer(name)}`, message })
  const names = new Set(parameters.keys())
  for (const name of names) {
    const given = parameters.getAll(name)
    if (given.length > 1) add(name, 'must be given once')
    else if (given[0] === '') add(name, 'must not be empty')
    else if (hasUnstorableText(given)) add(name, 'must not contain NUL')
  }
  const wrong = new Set(problems.map(({ path }) => path))
  const sound = [...names].filter((name) => !wrong.has(`query${pointer(name)}`))
  return { values: Object.fromEntries(sound.map((name) => [name, parameters.get(name) ?? ''])), problems }
}

/** Finds text that Postgres cannot store. */
function findUnstorable(value: unknown, path: (string | number)[] = []): SchemaProblem[] {
  if (!hasUnstorableText(value)) return []
  if (isObject(value) || Array.isArray(value)) {
    const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value)
    const inside = keys.flatMap((key) =>
      findUnstorable((value as Record<string | number, unknown>)[key], [...path, key]),
    )
    if (inside.length > 0) return inside
  }
  return [{ path: pointer(...path), message: 'must not contain NUL or half a surrogate pair' }]
}

function toProblem(problems: SchemaProblem[]) {
  const missing = problems.map((problem) => problem.missing)
  if (missing.every((field) => field !== undefined)) return missingFieldProblem([...new Set(missing)])
  return validationProblem(problems)
}
