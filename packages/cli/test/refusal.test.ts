import { expect, test } from '@jest/globals'
import { ValidationError } from '@slipway/client'
import { Command } from 'commander'
import { describePlace, nameFields, translateFields } from '../src/commands/field-names.ts'
import { formatRefusal } from '../src/terminal/refusal.ts'

const refuse = (details: Record<string, unknown>) =>
  formatRefusal(new ValidationError({ status: 400, code: 'VALIDATION_ERROR', message: 'not used', details }))

test('a single problem is printed alone', () => {
  const errors = [{ path: '/priority', message: 'must be from 0 to 100' }]
  expect(refuse({ errors })).toBe('priority: must be from 0 to 100 (VALIDATION_ERROR)')
})

test('several problems are listed, and those that the answer leaves out are counted', () => {
  const errors = ['/a', '/b/0'].map((path) => ({ path, message: 'is required' }))
  expect(refuse({ errors, more: 7 }).split('\n')).toEqual([
    'the request is not valid (VALIDATION_ERROR)',
    '  a: is required',
    '  b.0: is required',
    '  and 7 more',
  ])
})

test('warnings that refuse a strict request are listed with what to do', () => {
  expect(
    refuse({ warnings: ['web-1 is offline'] })
      .split('\n')
      .slice(1),
  ).toEqual(['  web-1 is offline', '  correct them, or leave out --strict'])
})

const command = nameFields(new Command('deploy'), { target_ids: '--target', 'connection/host': '--host' })
  .argument('<source>')
  .option('--target <name...>')
  .option('--environment <name>')
  .option('--permission <name...>')
  .option('--var <name=text>')
nameFields(command, { variables: '--var' }).parse(['web', '--permission', 'a:b', 'c:d'], { from: 'user' })

test.each([
  ['/target_ids', '--target'],
  ['/environment_id', '--environment'],
  ['/permissions/1', '--permission c:d'],
  ['query/permission', '--permission'],
  ['/variables/port', '--var port'],
  ['/source', '<source>'],
  ['/connection/host', '--host'],
  ['/connection/port', undefined],
  ['/definition/script', undefined],
])('%s is in the words of the command %p', (path, words) => {
  expect(describePlace(command, path)).toBe(words)
})

test('a sentence of the server names options', () => {
  expect(translateFields(command, 'give target_ids or environment_id, not start_at')).toBe(
    'give --target or --environment, not start_at',
  )
  for (const value of ['must be one of: target_ids.create, x.target_ids', 'there is no "target_ids"', '/target_ids'])
    expect(translateFields(command, value)).toBe(value)
})
