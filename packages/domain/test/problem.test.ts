import { expect, test } from '@jest/globals'
import {
  authRateLimited,
  conflict,
  ERROR_CODES,
  frozen,
  missingFieldProblem,
  missingRecords,
  notFound,
  Problem,
  pointer,
  toErrorBody,
  unavailable,
  validationProblem,
} from '../src/index.ts'

test.each([
  [validationProblem([{ path: '/a', message: 'is wrong' }]), 400],
  [missingFieldProblem(['password']), 400],
  [missingRecords([{ path: '/target_ids/0', id: 'x' }]), 404],
  [notFound(), 404],
  [conflict('Exists already', { id: 'x' }), 409],
  [frozen([{ id: '1', name: 'Christmas', ends_at: '2026-12-27T00:00:00.000Z' }], true), 409],
  [unavailable('No broker'), 503],
  [authRateLimited(900, 'too many attempts'), 429],
])('%s is unchanged after a conversion to an error body and back', (problem, status) => {
  const back = Problem.from(JSON.parse(JSON.stringify(toErrorBody(problem))))
  expect(back).toEqual(problem)
  expect(back).toMatchObject({ code: problem.code, status, details: problem.details })
})

test('error bodies have the form of the interface', () => {
  expect(toErrorBody(notFound('Target x'))).toEqual({ error: { code: 'NOT_FOUND', message: 'Target x was not found' } })
  expect(toErrorBody(frozen([], false)).error.details).toEqual({ active_freezes: [], can_override: false })
  expect(toErrorBody(missingFieldProblem(['a', 'b'])).error.details).toEqual({ fields: ['a', 'b'] })
  expect(toErrorBody(authRateLimited(900, 'why')).error).toMatchObject({ retry_after_secs: 900, reason: 'why' })
  expect(toErrorBody(validationProblem([{ path: '/a', message: 'b' }])).error.details).toEqual({
    errors: [{ path: '/a', message: 'b' }],
  })
})

test('an unknown code is an internal error', () => {
  const problem = Problem.from({ error: { code: 'toString', message: 'm' } })
  expect(problem).toMatchObject({ code: 'INTERNAL_ERROR', status: 500 })
})

test('every code has the status of the interface', () => {
  const counts = new Map<number, number>()
  for (const status of Object.values(ERROR_CODES)) counts.set(status, (counts.get(status) ?? 0) + 1)
  expect(Object.fromEntries(counts)).toEqual({
    400: 3,
    401: 6,
    403: 3,
    404: 1,
    405: 1,
    409: 3,
    413: 1,
    415: 1,
    429: 1,
    500: 5,
    503: 1,
  })
})

test('pointers escape the reserved characters of JSON Pointer', () => {
  expect(pointer('variables', 'a/b~c', 0)).toBe('/variables/a~1b~0c/0')
})
