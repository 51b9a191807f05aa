import { expect, test } from '@jest/globals'
import { BLOCKER_CODES, FreezeSet } from '@slipway/domain'
import { roundsOf } from '@slipway/testing'
import fc from 'fast-check'
import {
  type Asked,
  aboutToStart,
  admit,
  blockersIn,
  blockersOf,
  earliestStart,
  explain,
  type Instance,
  poolState,
  type Viewer,
} from '../src/index.ts'
import { freezeOf, held, instance, NOW, snapshot, start, target, worlds } from './worlds.ts'

const asked: Asked = {
  viewer: { tenant_id: null, may_override_freezes: false },
  now: NOW,
  tenant_name: 'Acme',
  version: '1.2',
  lostAfterSeconds: 30,
  position: 3,
  runSeconds: 60,
}

test('what is shown of a request is its decision: every blocker, once for each code, in the order of the table', () => {
  fc.assert(
    fc.property(worlds, ({ snapshot: world, requests }) => {
      const wrong = admit(world, requests, NOW).flatMap((decision) => {
        const blockers = blockersIn(decision)
        const codes = new Set(blockers.flatMap((blocker) => explain([blocker], asked).map(({ code }) => code)))
        const shown = explain(blockers, asked)
        const isInOrder =
          String(shown.map(({ code }) => code)) === String(BLOCKER_CODES.filter((code) => codes.has(code)))
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

const sentencesOf = (instances: Instance[], request = start('r'), more: Partial<Asked> = {}) =>
  explain(blockersOf(snapshot({ instances }), request, NOW), { ...asked, ...more }).map(({ message }) => message)
const ZONE_A = { match_labels: { zone: 'a' } }

test('without an instance that can take it, the sentence says why none can', () => {
  expect(sentencesOf([])[0]).toBe('No orchestration instance has joined: start one of version 1.2 with a join token')
  const idle = (['lost', 'lost', 'draining', 'refusing', 'foreign'] as const).map((reason, index) =>
    instance(`i${index}`, 0, { idle: reason }),
  )
  expect(sentencesOf([...idle, instance('j', 1, { tenant_id: 'y' })])[0]).toBe(
    'No orchestration instance can take it: of 6 instances 2 sent no heartbeat for 30 seconds, 1 draining, ' +
      '1 without room for new runs, 1 of another version than 1.2, 1 for other tenants only',
  )
  const request = start('r', { selector: ZONE_A })
  expect(sentencesOf([instance('i', 1, { labels: { zone: 'b' } })], request)[0]).toBe(
    'No orchestration instance matches zone=a (1 instance known): start one with these labels',
  )
  expect(sentencesOf([instance('i', 0, { labels: { zone: 'a' }, idle: 'draining' })], request)[0]).toBe(
    'No orchestration instance that matches zone=a can take it: of 1 instance 1 draining',
  )
})

test('without a free slot, the sentence counts the slots and the requests before it', () => {
  const full = [instance('i', 0, { slots: 2, taken: 2, labels: { zone: 'a' } })]
  expect(sentencesOf(full)).toEqual(['All 2 slots of 1 orchestration instance are taken; 2 requests before it'])
  expect(sentencesOf(full, start('r'), { position: 1 })).toEqual([
    'All 2 slots of 1 orchestration instance are taken; it is next',
  ])
  expect(sentencesOf(full, start('r', { selector: ZONE_A }), { position: 2 })).toEqual([
    'All 2 slots of 1 orchestration instance that matches zone=a are taken; 1 request before it',
  ])
  // A request that is not pending has no place.
  expect(sentencesOf(full, start('r'), { position: null })).toEqual([
    'All 2 slots of 1 orchestration instance are taken',
  ])
  const retry = start('r', { retry_at: new Date(NOW.getTime() + 1) })
  expect(sentencesOf(full, retry)).toEqual(['Its dispatch failed and is about to be tried again'])
  const pool = poolState([instance('i', 1, { slots: 2, taken: 1 })], { tenant_id: null, selector: null })
  expect(aboutToStart(pool, NOW)).toMatchObject({
    code: 'capacity',
    message: 'About to start: 1 of 2 slots of 1 orchestration instance free',
    until: NOW,
  })
})

test('a deployment and a freeze of another tenant stay unnamed', () => {
  const world = snapshot({
    instances: [instance('i', 1)],
    targets: new Map([['p', held]]),
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
