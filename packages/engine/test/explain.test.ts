import { expect, test } from '@jest/globals'
import { FreezeSet } from '@slipway/domain'
import fc from 'fast-check'
import { type Asked, type BlockerCode, blockersOf, explain, type WaitingCode } from '../src/index.ts'
import { freezeOf, held, instance, NOW, snapshot, start, target, worlds } from './worlds.ts'

const asked: Asked = {
  ...{ viewer: { tenant_id: null }, now: NOW, tenant_name: 'Acme', version: '1.2' },
  ...{ lostAfterSeconds: 30, position: 3, runSeconds: 60 },
}

const CODES: Record<BlockerCode, WaitingCode | null> = {
  ...{ freeze: 'freeze', instance_pool: 'instance_pool', no_compatible_instance: 'no_compatible_instance' },
  ...{ tenant_limit: 'tenant_limit', target_lock: 'target_lock', capacity: 'capacity', retry_delay: 'capacity' },
  check_limit: null,
}

test('each blocker has one sentence, and the first blocker is what the request waits for', () => {
  fc.assert(
    fc.property(worlds, ({ snapshot: world, requests }) => {
      for (const request of requests) {
        const blockers = blockersOf(world, request, NOW)
        const codes = blockers.map(({ code }) => CODES[code]).filter((code) => code !== null)
        expect(explain(blockers, asked).map(({ code }) => code)).toEqual([...new Set(codes)])
      }
    }),
    { numRuns: 500 },
  )
})

test('the sentences say what is in the way, until when, and who has it', () => {
  const world = snapshot({
    freezes: new FreezeSet([freezeOf('x', 'year end')]),
    instances: [instance('i', 0, { slots: 2, taken: 2 }), instance('j', 0, { idle: 'lost' })],
    tenantLimit: 1,
    running: new Map([['x', 1]]),
    targets: new Map([['p', held]]),
  })
  const request = start('r', { tenant_id: 'x', targets: [target('p')] })
  const told = explain(blockersOf(world, request, NOW), asked)
  expect(told.map(({ message }) => message)).toEqual([
    'Held back by freeze "year end" until 2026-03-14T10:00:00.000Z',
    'Tenant "Acme" runs 1 deployment, as many as a tenant may at once (1)',
    'Waits for the target "p", held by deployment d since 2026-03-14T08:30:00.000Z',
    'All 2 slots of 1 orchestration instance are taken; 2 requests before it',
  ])
  expect(told.map(({ until }) => until?.toISOString() ?? null)).toEqual([
    ...['2026-03-14T10:00:00.000Z', null, null, '2026-03-14T09:01:30.000Z'],
  ])
})

test('a deployment of another tenant stays unnamed', () => {
  const world = snapshot({ instances: [instance('i', 1)], targets: new Map([['p', held]]) })
  const [blocker] = explain(blockersOf(world, start('r', { targets: [target('p')] }), NOW), {
    ...asked,
    viewer: { tenant_id: 'x' },
  })
  expect(blocker?.message).toContain('held by another deployment since')
  expect(JSON.stringify(blocker?.details)).not.toContain('"d"')
})
