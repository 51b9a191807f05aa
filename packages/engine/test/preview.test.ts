import { expect, test } from '@jest/globals'
import { FreezeSet } from '@slipway/domain'
import {
  type Asked,
  admit,
  type GroupBefore,
  previewStart,
  requestsAhead,
  type Snapshot,
  type StartRequest,
} from '../src/index.ts'
import { arrival, freezeOf, held, instance, NOW, snapshot, target } from './worlds.ts'

const asked: Asked = {
  viewer: { may_override_freezes: true, tenant_id: null },
  now: NOW,
  tenant_name: 'Acme',
  version: '1.2',
  lostAfterSeconds: 30,
  position: 1,
  runSeconds: null,
}

function previewed(world: Snapshot, request: StartRequest) {
  const [decision] = admit(world, [request], NOW)
  if (decision === undefined) throw new Error('nothing was decided')
  return previewStart(world, request, { decision, asked })
}

test('a preview has a warning for each freeze, and one for each other blocker', () => {
  const world = snapshot({
    freezes: new FreezeSet([freezeOf('x', 'year end'), freezeOf(null, 'audit')]),
    instances: [instance('i', 0, { slots: 2, taken: 2 })],
    targets: new Map([['p', held]]),
  })
  expect(previewed(world, arrival('r', { tenant_id: 'x', targets: [target('p')] }))).toMatchObject({
    blockers: [{ code: 'freeze' }, { code: 'target_lock' }, { code: 'capacity' }],
    earliest_start: null,
    freezes: [
      'Freeze "year end" blocks this deployment until 2026-03-14T10:00:00.000Z',
      'Freeze "audit" blocks this deployment until 2026-03-14T10:00:00.000Z',
    ],
    others: [
      'Waits for the target "p", held by deployment d since 2026-03-14T08:30:00.000Z',
      'All 2 slots of 1 orchestration instance are taken; it is next',
    ],
  })
})

test('a preview tells a refusal for held targets, and freezes that the caller overrides', () => {
  const world = snapshot({
    freezes: new FreezeSet([freezeOf(null, 'audit')]),
    instances: [instance('i', 1)],
    targets: new Map([['p', held]]),
  })
  const request = arrival('r', { targets: [target('p', 'reject')] })
  const caller = { may_override_freezes: true, tenant_id: null }
  const busy = 'The target "p" is held by deployment d since 2026-03-14T08:30:00.000Z: the deployment would be refused'
  expect(previewed(world, { ...request, subject: { ...request.subject, caller, override: true } })).toMatchObject({
    blockers: [{ code: 'target_lock', message: busy }],
    freezes: ['Freeze "audit" is overridden and stays in force until 2026-03-14T10:00:00.000Z'],
    others: [busy],
  })
})

test('a deployment that nothing blocks starts now', () => {
  const world = snapshot({ instances: [instance('i', 1)] })
  expect(previewed(world, arrival('r'))).toEqual({ blockers: [], earliest_start: NOW, freezes: [], others: [] })
})

test('only requests that compete for slots or targets are ahead, and frozen ones are not', () => {
  const labelled = (zone: string) => instance(zone, 0, { labels: { zone } })
  const world = snapshot({
    instances: [labelled('a'), labelled('b')],
    freezes: new FreezeSet([freezeOf('x')]),
  })
  const { subject } = arrival('r')
  const inZone = (zone: string) => ({ match_labels: { zone } })
  const before = (more: Partial<GroupBefore>): GroupBefore => {
    return { tenant_id: null, subject, selector: inZone('a'), count: 0, sharing: 0, ...more }
  }
  const groups = [
    before({ count: 1 }),
    before({ selector: null, count: 10 }),
    before({ selector: inZone('b'), count: 100, sharing: 3 }),
    before({ tenant_id: 'x', subject: { ...subject, tenant_id: 'x' }, count: 1_000 }),
  ]
  expect(requestsAhead(world, { tenant_id: null, selector: inZone('a') }, groups)).toBe(14)
  // No instance has the labels: both wait for the same one to join.
  const absent = { selector: inZone('c'), count: 2 }
  expect(requestsAhead(world, { tenant_id: null, selector: inZone('c') }, [before(absent), before({ count: 5 })])).toBe(
    2,
  )
})
