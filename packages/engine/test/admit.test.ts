import { describe, expect, test } from '@jest/globals'
import { FreezeSet } from '@slipway/domain'
import fc from 'fast-check'
import { admit, blockersOf, type Decision, type Request, type Snapshot, type Start } from '../src/index.ts'
import { naiveOutcomes } from './naive.ts'
import { arrival, freezeOf, held, instance, NOW, snapshot, start, target, worlds } from './worlds.ts'

const RUNS = 1_000

/** One word for each request, in the order of the decisions. */
const outcomes = (decisions: readonly Decision[]) =>
  Object.fromEntries(
    decisions.map((decision) => [
      decision.request.id,
      decision.is === 'wait' ? decision.blockers.map(({ code }) => code).join(' ') : decision.is,
    ]),
  )
const decide = (world: Partial<Snapshot>, ...requests: Request[]) => outcomes(admit(snapshot(world), requests, NOW))
const startsOf = (decisions: readonly Decision[]) =>
  decisions.filter((decision): decision is Start => decision.is === 'start')

describe('order', () => {
  test('by rank; of the same rank stored requests before new ones', () => {
    const requests = [
      arrival('new', { rank: 1 }),
      start('late', { rank: 2 }),
      start('b', { rank: 1 }),
      start('a', { rank: 1 }),
    ]
    expect(decide({ instances: [instance('i', 2)] }, ...requests)).toEqual({
      a: 'start',
      b: 'start',
      new: 'capacity',
      late: 'capacity',
    })
  })

  test('deployments that lost their instance come first, checks last', () => {
    const check: Request = { kind: 'check', id: 'check', tenant_id: null, selector: null }
    const orphan: Request = { kind: 'orphan', id: 'orphan', tenant_id: null, selector: null }
    const requests = [check, start('s'), orphan]
    expect(decide({ instances: [instance('i', 1)] }, ...requests)).toMatchObject({ orphan: 'start', s: 'capacity' })
    expect(decide({ instances: [instance('i', 2)] }, ...requests)).toMatchObject({ s: 'start', check: 'capacity' })
    expect(decide({ instances: [instance('i', 3)] }, ...requests)).toMatchObject({ check: 'start' })
  })

  test('nothing starts that comes after requests that were not read', () => {
    const requests = [start('a', { rank: 1 }), arrival('b', { rank: 2 })]
    expect(decide({ instances: [instance('i', 9)], readUpTo: 1 }, ...requests)).toEqual({ a: 'start', b: 'capacity' })
  })

  test('checks of tenants without a running one start before second checks of others', () => {
    const check = (id: string, tenant_id: string): Request => ({ kind: 'check', id, tenant_id, selector: null })
    const requests = [check('x1', 'x'), check('x2', 'x'), check('x3', 'x'), check('y1', 'y')]
    expect(
      startsOf(admit(snapshot({ instances: [instance('i', 9)] }), requests, NOW)).map((one) => one.request.id),
    ).toEqual([...['x1', 'y1', 'x2']])
  })
})

describe('blockers', () => {
  test('all of them are named, in the order in which they are shown', () => {
    const world = {
      freezes: new FreezeSet([freezeOf('x')]),
      tenantLimit: 1,
      running: new Map([['x', 1]]),
      targets: new Map([['p', held]]),
    }
    const request = start('r', { tenant_id: 'x', targets: [target('p')], retry_at: new Date(NOW.getTime() + 1) })
    expect(decide(world, request)).toEqual({
      r: 'freeze no_compatible_instance tenant_limit target_lock retry_delay',
    })
    expect(
      decide({ ...world, instances: [instance('i', 1)] }, { ...request, selector: { match_labels: { a: 'b' } } }),
    ).toEqual({
      r: 'freeze instance_pool tenant_limit target_lock retry_delay',
    })
  })

  test('what a freeze, a limit, its pool or a failed dispatch holds back keeps no target from others', () => {
    const world = { instances: [instance('i', 5)], freezes: new FreezeSet([freezeOf('x')]) }
    const targets = [target('p')]
    const requests = [start('frozen', { tenant_id: 'x', targets }), start('free', { rank: 1, targets })]
    expect(decide(world, ...requests)).toEqual({ frozen: 'freeze', free: 'start' })
  })

  test('a request that waits for one target keeps its other targets from later ones', () => {
    const world = { instances: [instance('i', 5)], targets: new Map([['p', held]]) }
    const requests = [
      start('a', { targets: [target('p'), target('q')] }),
      start('b', { rank: 1, targets: [target('q')] }),
    ]
    expect(decide(world, ...requests)).toEqual({ a: 'target_lock', b: 'target_lock' })
  })

  test('a tenant takes its own instances first, and leaves those that others need', () => {
    const instances = [
      instance('shared', 1),
      instance('own', 1, { tenant_id: 'x' }),
      instance('labelled', 1, { labels: { zone: 'a' } }),
    ]
    const requests = [
      start('x', { tenant_id: 'x' }),
      start('any', { rank: 1 }),
      start('zone', { rank: 2, selector: { match_labels: { zone: 'a' } } }),
    ]
    const slots = startsOf(admit(snapshot({ instances }), requests, NOW)).map(({ slot }) => slot.instance_id)
    expect(slots).toEqual(['own', 'shared', 'labelled'])
  })
})

describe('new requests', () => {
  const world = { instances: [instance('i', 5)] }

  test('are known, dropped or refused', () => {
    const requests = [
      arrival('known', {}, { status: 'queued' }),
      arrival('late', {}, { status: 'late' }),
      arrival('frozen', { tenant_id: 'x' }),
      arrival('busy', { targets: [target('p', 'reject')] }),
    ]
    const freezes = new FreezeSet([freezeOf('x')])
    expect(decide({ ...world, freezes, targets: new Map([['p', held]]) }, ...requests)).toEqual({
      known: 'known',
      late: 'dropped',
      frozen: 'refuse',
      busy: 'refuse',
    })
  })

  test('that are refused name all that is in their way', () => {
    const facts = { freezes: new FreezeSet([freezeOf('x')]), targets: new Map([['p', held]]) }
    const request = arrival('r', { tenant_id: 'x', targets: [target('p', 'reject')] })
    const [decision] = admit(snapshot({ ...world, ...facts }), [request], NOW)
    expect(decision).toMatchObject({
      is: 'refuse',
      problem: { code: 'DEPLOYMENT_FROZEN' },
      blockers: [{ code: 'freeze' }, { code: 'target_lock' }],
    })
  })

  test('replace older ones and take over the earliest of their places', () => {
    const older = [{ id: 'old', queued_at: '2026-03-14', rankInItsPlace: 1 }]
    const targets = [target('r', 'supersede')]
    const requests = [
      ...[start('old', { rank: 1, targets }), start('other', { rank: 2 })],
      arrival('newer', { rank: 3, targets }, { older }),
    ]
    const decisions = admit(snapshot({ instances: [instance('i', 1)] }), requests, NOW)
    expect(outcomes(decisions)).toEqual({ newer: 'start', other: 'capacity' })
    expect(decisions[0]).toMatchObject({ supersedes: ['old'], queued_at: '2026-03-14' })
  })

  test('two that may replace each other are decided in two rounds', () => {
    const targets = [target('r', 'supersede')]
    expect(decide(world, arrival('a', { targets }), arrival('b', { targets }))).toEqual({ a: 'start' })
  })
})

describe('random worlds', () => {
  test('no slot, target or room is given twice, and nothing starts that has a blocker', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const starts = startsOf(admit(world.snapshot, world.requests, NOW))
        const slots = starts.map(({ slot }) => `${slot.instance_id} ${slot.slot}`)
        expect(new Set(slots).size).toBe(slots.length)
        const locks = starts.flatMap(({ request }) =>
          request.kind === 'start' ? request.targets.map(({ id }) => id) : [],
        )
        expect(new Set(locks).size).toBe(locks.length)
        for (const [tenant, running] of world.snapshot.running) {
          const started = starts.filter(({ request }) => request.kind === 'start' && request.tenant_id === tenant)
          expect(started.length).toBeLessThanOrEqual(Math.max(0, (world.snapshot.tenantLimit ?? 0) - running))
        }
        for (const { request } of starts) expect(blockersOf(world.snapshot, request, NOW)).toEqual([])
      }),
      { numRuns: RUNS },
    )
  })

  test('a waiting request names everything that blocks it, and it has no blocker less than at the beginning', () => {
    fc.assert(
      fc.property(worlds, ({ snapshot: before, requests }) => {
        for (const decision of admit(before, requests, NOW)) {
          if (decision.is !== 'wait') continue
          const codes = decision.blockers.map(({ code }) => code)
          expect(codes.length).toBeGreaterThan(0)
          expect(codes).toEqual(
            expect.arrayContaining(blockersOf(before, decision.request, NOW).map(({ code }) => code)),
          )
        }
      }),
      { numRuns: RUNS },
    )
  })

  test('a second, simpler program decides the same', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const decisions = admit(world.snapshot, world.requests, NOW)
        const told = decisions.map(({ is, request, ...rest }) =>
          is === 'start' && 'slot' in rest ? `${request.id} start on ${rest.slot.instance_id}` : `${request.id} ${is}`,
        )
        expect(told.sort()).toEqual(naiveOutcomes(world).sort())
      }),
      { numRuns: RUNS },
    )
  })
})
