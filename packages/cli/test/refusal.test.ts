import { expect, test } from '@jest/globals'
import { ValidationError } from '@slipway/client'
import { formatRefusal } from '../src/terminal/refusal.ts'

const refuse = (message: string, errors: { path: string; message: string }[]) =>
  formatRefusal(new ValidationError({ status: 400, code: 'VALIDATION_ERROR', message, details: { errors } }))

test('a single problem is printed once', () => {
  const text = refuse('The request is not valid: /priority: must be <= 100', [
    { path: '/priority', message: 'must be <= 100' },
  ])
  expect(text).toBe('The request is not valid: /priority: must be <= 100 (VALIDATION_ERROR)')
})

test('several problems are listed', () => {
  const errors = ['/a', '/b'].map((path) => ({ path, message: 'is required' }))
  expect(refuse('The request is not valid: 2 problems', errors).split('\n').slice(1)).toEqual([
    '  /a is required',
    '  /b is required',
  ])
})
