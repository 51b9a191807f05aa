import { expect, test } from '@jest/globals'
import type { Subject } from '@slipway/domain'
import { admit, type StartRequest } from '../src/index.ts'
import { ADMIN, arrival, instance, NOW, snapshot, start, terms } from './worlds.ts'

const inScope = (environment_ids: string[]): Subject => ({
  bindings: [
    { role: 'deployer', role_id: 'r', permissions: ['deployments:create'], environment_ids, solution_ids: null },
  ],
  key: null,
})
const base = start('base').subject
const at = (environment_id: string, placed: string[] = []) => ({
  ...base,
  environment_id,
  targets: placed.map((place) => ({ tenant_id: null, environment_id: place })),
})
const decide = (request: StartRequest, slots = 1) =>
  admit(snapshot({ instances: [instance('i', slots)] }), [request], NOW)[0]

test('a new request is refused if its author may not start it, even if it would wait', () => {
  const denied = { is: 'refuse', problem: { code: 'INSUFFICIENT_PERMISSIONS' } }
  const staging = inScope(['staging'])
  expect(decide(arrival('a', { author: staging, subject: at('staging') }))).toMatchObject({ is: 'start' })
  expect(decide(arrival('a', { author: staging, subject: at('production') }), 0)).toMatchObject(denied)
  expect(decide(arrival('a', { author: staging, subject: at('staging', ['production']) }))).toMatchObject(denied)
  expect(decide(arrival('a', { author: null }))).toMatchObject({ is: 'refuse', problem: { code: 'FORBIDDEN' } })
})

test('a waiting request fails when it would start, not before: rights may come back', () => {
  const lost = { author: inScope(['staging']), subject: at('production') }
  expect(decide(start('a', lost), 0)).toMatchObject({ is: 'wait' })
  expect(decide(start('a', lost))).toMatchObject({ is: 'end', status: 'failed', because: null })
  expect(decide(start('a', { author: null }))).toMatchObject({ is: 'end', status: 'failed' })
  expect(decide(start('a'))).toMatchObject({ is: 'start' })
})

test('a request that overrides fails if its author is no administrator any more', () => {
  const anyone = { bindings: ADMIN.bindings.map((one) => ({ ...one, role: 'operator' })), key: null }
  const overriding = { terms: terms({ overrides_rules: true }) }
  expect(decide(start('a', { ...overriding, author: anyone }))).toMatchObject({
    is: 'end',
    message: expect.stringContaining('may not override'),
  })
  expect(decide(start('a', overriding))).toMatchObject({ is: 'start' })
})
