import { expect, test } from '@jest/globals'
import { FreezeSet } from '@slipway/domain'
import { roundsOf } from '@slipway/testing'
import fc from 'fast-check'
import {
  type Asked,
  admit,
  type BlockerCode,
  blockersIn,
  blockersOf,
  earliestStart,
  explain,
  type ShownCode,
  type Viewer,
} from '../src/index.ts'
import { freezeOf, held, instance, NOW, snapshot, start, target, worlds } from './worlds.ts'

const asked: Asked = {
  ...{ viewer: { tenant_id: null, may_override_freezes: false }, now: NOW, tenant_name: 'Acme', version: '1.2' },
  ...{ lostAfterSeconds: 30, position: 3, runSeconds: 60 },
}

const CODES: Record<BlockerCode, ShownCode | null> = {
  ...{ freeze: 'freeze', instance_pool: 'instance_pool', no_compatible_instance: 'no_compatible_instance' },
  ...{ tenant_limit: 'tenant_limit', target_lock: 'target_lock', capacity: 'capacity', retry_delay: 'capacity' },
  check_limit: null,
}

/** The order of the table in docs/queue.md. */
const ORDER: ShownCode[] = [
  ...(['freeze', 'instance_pool', 'no_compatible_instance', 'tenant_limit', 'target_lock', 'capacity'] as const),
]

test('what is shown of a request is its decision: every blocker, once for each code, in the order of the table', () => {
  fc.assert(
    fc.property(worlds, ({ snapshot: world, requests }) => {
      const wrong = admit(world, requests, NOW).flatMap((decision) => {
        const blockers = blockersIn(decision)
        const codes = new Set(blockers.map(({ code }) => CODES[code]))
        const shown = explain(blockers, asked)
        const isInOrder = String(shown.map(({ code }) => code)) === String(ORDER.filter((code) => codes.has(code)))
        const latest = Math.max(
          NOW.getTime(),
          ...shown.map(({ until }) => until?.getTime() ?? Number.POSITIVE_INFINITY),
        )
        const isLatest = (earliestStart(shown, NOW)?.getTime() ?? Number.POSITIVE_INFINITY) === latest
        return isInOrder && isLatest ? [] : [{ decision, shown }]
      })
      expect(wrong).toEqual([])
    }),
    { numRuns: roundsOf(500, 10_000) },
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

test('a deployment and a freeze of another tenant stay unnamed', () => {
  const world = snapshot({
    ...{ instances: [instance('i', 1)], targets: new Map([['p', held]]) },
    freezes: new FreezeSet([freezeOf('y', 'secret')]),
  })
  const base = start('r', { targets: [target('p')], tenant_id: 'x' })
  const places = [{ tenant_id: 'y', environment_id: null }]
  const blockers = blockersOf(world, { ...base, subject: { ...base.subject, targets: places } }, NOW)
  const shown = explain(blockers, { ...asked, viewer: { tenant_id: 'x', may_override_freezes: true } })
  expect(shown.map(({ message }) => message)).toEqual([
    'Held back by a freeze of another tenant until 2026-03-14T10:00:00.000Z',
    'Waits for the target "p", held by another deployment since 2026-03-14T08:30:00.000Z',
  ])
  expect(JSON.stringify(shown)).not.toMatch(/"d"|secret/)
})

test('who reads decides whether a freeze can be overridden, not who asked for the deployment', () => {
  const world = snapshot({ instances: [instance('i', 1)], freezes: new FreezeSet([freezeOf('x')]) })
  const blockers = blockersOf(world, start('r', { tenant_id: 'x' }), NOW)
  const canOverride = (viewer: Viewer) => explain(blockers, { ...asked, viewer }).map((one) => one.can_override)
  expect(canOverride({ tenant_id: null, may_override_freezes: true })).toEqual([true])
  expect(canOverride({ tenant_id: 'x', may_override_freezes: true })).toEqual([true])
  expect(canOverride({ tenant_id: 'y', may_override_freezes: true })).toEqual([false])
  expect(canOverride({ tenant_id: null, may_override_freezes: false })).toEqual([false])
})

test('two blockers of one code end together: with the later one, or nobody knows when', () => {
  const retry_at = new Date('2026-03-14T09:00:10Z')
  const untilOf = (more: Partial<Asked>) => {
    const world = snapshot({ instances: [instance('i', 0, { slots: 1, taken: 1 })] })
    return explain(blockersOf(world, start('r', { retry_at }), NOW), { ...asked, ...more }).map(({ until }) => until)
  }
  expect(untilOf({ position: 1, runSeconds: 60 })).toEqual([new Date('2026-03-14T09:01:00Z')])
  expect(untilOf({ position: 1, runSeconds: 5 })).toEqual([retry_at])
  expect(untilOf({ runSeconds: null })).toEqual([null])
})
