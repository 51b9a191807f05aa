import { describe, expect, test } from '@jest/globals'
import { FreezeSet } from '@slipway/domain'
import {
  type Approver,
  admit,
  approvalProblem,
  blockersOf,
  type Decision,
  earliestStart,
  type PromotionState,
  promotionKey,
  type RuledEnvironment,
  rejectionProblem,
  type Snapshot,
  type StartRequest,
  type Terms,
} from '../src/index.ts'
import {
  approval,
  approver,
  arrival,
  environment,
  freezeOf,
  instance,
  minutes,
  NOW,
  snapshot,
  start,
  terms,
} from './worlds.ts'

const free = (rules: RuledEnvironment[], more: Partial<Snapshot> = {}) =>
  snapshot({ instances: [instance('i', 1)], rules: new Map(rules.map((each) => [each.id, each])), ...more })

const inProduction = (given: Partial<Terms> = {}, more: Partial<StartRequest> = {}): StartRequest => {
  const request = start('r', more)
  return { ...request, subject: { ...request.subject, environment_id: 'production' }, terms: terms(given) }
}
const asNew = (request: StartRequest): StartRequest => ({ ...request, arrival: { status: 'new', older: [] } })

const codes = (facts: Snapshot, request: StartRequest) => blockersOf(facts, request, NOW).map(({ code }) => code)
const decide = (facts: Snapshot, request: StartRequest): Decision | undefined => admit(facts, [request], NOW)[0]

const approvals = (more: object = {}) =>
  environment('production', {
    approvals: { count: 1, role: null, allow_author: false, expires_in_seconds: 3_600, ...more },
  })

describe('a start time', () => {
  test('keeps a request waiting until then, judged for that moment', () => {
    const facts = free([], { instances: [], freezes: new FreezeSet([freezeOf(null)]) })
    const request = inProduction({ start_at: minutes(30) })
    // The freeze ends after 60 minutes. Nobody knows what is free in 30.
    expect(codes(facts, request)).toEqual(['start_time', 'freeze'])
    expect(decide(facts, asNew(request))).toMatchObject({ is: 'wait', isParked: true, review_at: minutes(30) })
    expect(codes(facts, inProduction({ start_at: minutes(61) }))).toEqual(['start_time'])
  })

  test('in the past is now', () => {
    expect(decide(free([]), inProduction({ start_at: minutes(-1) }))).toMatchObject({ is: 'start' })
    expect(decide(free([]), inProduction({ start_at: NOW }))).toMatchObject({ is: 'start' })
  })

  test('a request that expires ends, whatever it waits for', () => {
    const ended = { is: 'end', status: 'cancelled', because: 'expired' }
    expect(decide(free([]), inProduction({ expires_at: NOW }))).toMatchObject(ended)
    expect(decide(free([approvals()]), inProduction({ expires_at: minutes(-1) }))).toMatchObject(ended)
    const waiting = decide(free([], { instances: [] }), inProduction({ expires_at: minutes(1) }))
    expect(waiting).toMatchObject({ is: 'wait', isParked: false, review_at: minutes(1) })
  })
})

describe('approvals', () => {
  const NO_RIGHTS = { bindings: [], key: null }
  const anna = approval('anna')
  const ben = approval('ben', { subject: approver(['managers']) })
  const author = approval('author', { subject: approver(['managers']) })

  test.each<[string, object, Terms['approvals'], boolean]>([
    ['none', {}, [], false],
    ['one', {}, [anna], true],
    ['one of two', { count: 2 }, [anna], false],
    ['two of two', { count: 2 }, [anna, ben], true],
    ['without the role', { role: 'managers' }, [anna], false],
    ['with the role', { role: 'managers' }, [anna, ben], true],
    ['of the author', {}, [author], false],
    ['of the author, who may', { allow_author: true }, [author], true],
    ['of a user who may no more', {}, [{ ...anna, subject: null }], false],
  ])('%s', (_, rule, given, starts) => {
    const decision = decide(free([approvals(rule)]), inProduction({ approvals: given }))
    expect(decision).toMatchObject(starts ? { is: 'start' } : { is: 'wait', isParked: true })
  })

  test('every environment of a deployment asks; one approval counts for all that it fits', () => {
    const request = inProduction({ approvals: [ben] })
    const both = { ...request.subject, targets: [{ tenant_id: null, environment_id: 'eu' }] }
    const eu = { ...approvals({ role: 'managers' }), id: 'eu', name: 'eu' }
    expect(codes(free([approvals(), eu]), { ...request, subject: both })).toEqual([])
    expect(codes(free([approvals({ count: 2 }), eu]), { ...request, subject: both })).toEqual(['approval'])
    expect(codes(free([approvals({ count: 2 })]), { ...request, subject: { ...both, environment_id: null } })).toEqual(
      [],
    )
  })

  test('end with the request, the earliest of all rules, and only while one is missing', () => {
    const late = { queued_at: minutes(-61) }
    const ended = { is: 'end', status: 'cancelled', because: 'approval_expired' }
    expect(decide(free([approvals()]), inProduction(late))).toMatchObject(ended)
    expect(decide(free([approvals()]), inProduction({ ...late, approvals: [anna] }))).toMatchObject({ is: 'start' })
    expect(decide(free([approvals()]), inProduction({ ...late, start_at: minutes(-10) }))).toMatchObject({
      is: 'wait',
      review_at: minutes(50),
    })
  })

  test('an approval that does not count at present is looked at again', () => {
    const suspended = decide(free([approvals()]), inProduction({ approvals: [{ ...anna, subject: null }] }))
    expect(suspended).toMatchObject({ is: 'wait', review_at: minutes(1) })
  })

  test.each<[string, object, Partial<Approver>, Terms['approvals'], ReturnType<typeof approvalProblem>]>([
    ['a user with the permission', {}, {}, [], null],
    ['a user without it', {}, { subject: NO_RIGHTS }, [], 'rights'],
    ['a user without the role', { role: 'managers' }, {}, [], 'rights'],
    ['a user with the role', { role: 'managers' }, { subject: approver(['managers']) }, [], null],
    ['the author', {}, { user_id: 'author' }, [], 'author'],
    ['the author, who may', { allow_author: true }, { user_id: 'author' }, [], null],
    ['the author without the permission', {}, { user_id: 'author', subject: NO_RIGHTS }, [], 'rights'],
    ['when nothing is missing', {}, {}, [ben], 'not_needed'],
    ['a user who is not active', {}, { subject: null }, [], 'rights'],
  ])('%s approves: %s', (_, rule, given_by, given, problem) => {
    const who = { user_id: 'anna', subject: approver(), ...given_by }
    const request = inProduction({ approvals: given })
    expect(approvalProblem([approvals(rule)], request, who)).toBe(problem)
    // A request with all approvals may still be rejected.
    const rejection = problem === 'not_needed' ? null : problem
    expect(rejectionProblem([approvals(rule)], request, who)).toBe(rejection)
    expect(rejectionProblem([], request, { ...who, subject: approver() })).toBe('not_needed')
  })
})

describe('windows', () => {
  const windows = (...times: [from: number, to: number][]) =>
    times.map(([from, to]) => ({ start_time: minutes(from).toISOString(), end_time: minutes(to).toISOString() }))
  const open = (id: string, ...times: [number, number][]) => environment(id, { windows: windows(...times) })

  test('are half-open', () => {
    expect(codes(free([open('production', [0, 10])]), inProduction())).toEqual([])
    expect(codes(free([open('production', [-10, 0], [5, 6])]), inProduction())).toEqual(['window'])
  })

  test('of two environments must be open together', () => {
    const request = inProduction()
    const both = { ...request, subject: { ...request.subject, targets: [{ tenant_id: null, environment_id: 'eu' }] } }
    const facts = free([open('production', [0, 10], [20, 30]), open('eu', [12, 24])])
    expect(decide(facts, both)).toMatchObject({ is: 'wait', review_at: minutes(20) })
    expect(blockersOf(facts, both, NOW)).toMatchObject([{ code: 'window', until: minutes(20) }])
  })

  test('that are over refuse a create, and end a request that waits', () => {
    const facts = free([open('production', [-10, 0])])
    expect(decide(facts, asNew(inProduction()))).toMatchObject({ is: 'refuse', problem: { code: 'CONFLICT' } })
    expect(decide(facts, inProduction())).toMatchObject({ is: 'end', status: 'failed', because: null })
  })

  test('count for the start time', () => {
    const facts = free([open('production', [30, 60])])
    const later = blockersOf(facts, inProduction({ start_at: minutes(40) }), NOW)
    expect(later.map(({ code }) => code)).toEqual(['start_time'])
    const shown = [{ until: minutes(30) }, { until: minutes(40) }]
    expect(earliestStart(shown, NOW)).toEqual(minutes(40))
  })

  /** The next window of 22:00 to 23:00 each day, seen at noon before and after both changes of the clocks of 2026. */
  test.each<[string, string, [from: string, next: string][]]>([
    [
      'Europe/Zurich',
      '+01:00',
      [
        ['2026-03-28T12:00:00Z', '2026-03-28T21:00:00.000Z'],
        ['2026-03-29T12:00:00Z', '2026-03-29T20:00:00.000Z'],
        ['2026-10-24T12:00:00Z', '2026-10-24T20:00:00.000Z'],
        ['2026-10-25T12:00:00Z', '2026-10-25T21:00:00.000Z'],
      ],
    ],
    [
      'America/New_York',
      '-05:00',
      [
        ['2026-03-07T17:00:00Z', '2026-03-08T03:00:00.000Z'],
        ['2026-03-08T17:00:00Z', '2026-03-09T02:00:00.000Z'],
        ['2026-10-31T17:00:00Z', '2026-11-01T02:00:00.000Z'],
        ['2026-11-01T17:00:00Z', '2026-11-02T03:00:00.000Z'],
      ],
    ],
    [
      'Australia/Lord_Howe',
      '+11:00',
      [
        ['2026-04-04T02:00:00Z', '2026-04-04T11:00:00.000Z'],
        ['2026-04-05T02:00:00Z', '2026-04-05T11:30:00.000Z'],
        ['2026-10-03T02:00:00Z', '2026-10-03T11:30:00.000Z'],
        ['2026-10-04T02:00:00Z', '2026-10-04T11:00:00.000Z'],
      ],
    ],
    [
      'America/Santiago',
      '-03:00',
      [
        ['2026-04-04T15:00:00Z', '2026-04-05T01:00:00.000Z'],
        ['2026-04-05T16:00:00Z', '2026-04-06T02:00:00.000Z'],
        ['2026-09-05T16:00:00Z', '2026-09-06T02:00:00.000Z'],
        ['2026-09-06T15:00:00Z', '2026-09-07T01:00:00.000Z'],
      ],
    ],
    [
      'Asia/Kolkata',
      '+05:30',
      [
        ['2026-03-29T06:00:00Z', '2026-03-29T16:30:00.000Z'],
        ['2026-10-25T06:00:00Z', '2026-10-25T16:30:00.000Z'],
      ],
    ],
  ])('recur in the zone %s, on both sides of a clock change', (time_zone, start_offset, moments) => {
    const nights = environment('production', {
      windows: [
        {
          start_time: `2026-01-10T22:00:00${start_offset}`,
          end_time: `2026-01-10T23:00:00${start_offset}`,
          start_offset,
          recurrence: 'FREQ=DAILY',
          time_zone,
        },
      ],
    })
    const next = (from: string) => {
      const at = new Date(from)
      const [first] = blockersOf({ ...free([nights]), now: at }, inProduction(), at)
      return first?.code === 'window' ? first.until?.toISOString() : first?.code
    }
    expect(moments.map(([from]) => next(from))).toEqual(moments.map(([, expected]) => expected))
  })
})

describe('promotion', () => {
  const production = (hours = 1) => environment('production', { promotion: { from_environment_id: 'staging', hours } })
  const state = (more: Partial<PromotionState> = {}): PromotionState => ({
    ...{
      versions: [{ version: '1.1.0', variant: 'a', targets: 2 }],
      drifted: 0,
      since: minutes(-60),
      was_in_force: false,
    },
    ...more,
  })
  const facts = (found: PromotionState, hours?: number) =>
    free([production(hours)], { promotions: new Map([[promotionKey(inProduction(), 'production'), found]]) })

  test.each<[string, Partial<PromotionState>, 'start' | 'time' | 'never']>([
    ['long enough there', {}, 'start'],
    ['not long enough there', { since: minutes(-59) }, 'time'],
    ['not there', { versions: [], since: null }, 'never'],
    ['in another version', { versions: [{ version: '1.0.0', variant: 'a', targets: 2 }] }, 'never'],
    ['with other parts', { versions: [{ version: '1.1.0', variant: 'b', targets: 2 }] }, 'never'],
    ['drifted', { drifted: 1 }, 'never'],
    ['not there, but in force here before', { versions: [], since: null, was_in_force: true }, 'start'],
    [
      'not on all its targets',
      { versions: [...state().versions, { version: '1.0.0', variant: 'a', targets: 1 }] },
      'never',
    ],
  ])('%s', (_, found, expected) => {
    const seen = facts(state(found))
    const created = decide(seen, asNew(inProduction()))
    const waiting = decide(seen, inProduction())
    if (expected === 'start') {
      expect([created?.is, waiting?.is]).toEqual(['start', 'start'])
      return
    }
    expect(created).toMatchObject({ is: 'refuse', problem: { code: 'NOT_PROMOTED' } })
    if (expected === 'time') expect(waiting).toMatchObject({ is: 'wait', isParked: true, review_at: minutes(1) })
    else expect(waiting).toMatchObject({ is: 'end', status: 'failed', because: null })
  })

  test('a start time after the time is over needs no refusal', () => {
    const young = facts(state({ since: minutes(-30) }))
    expect(decide(young, asNew(inProduction({ start_at: minutes(30) })))).toMatchObject({ is: 'wait' })
    expect(decide(young, asNew(inProduction({ start_at: minutes(29) })))).toMatchObject({ is: 'refuse' })
  })

  test('does not end a request that waits for something else besides', () => {
    const rules = { ...production().rules, ...approvals().rules }
    const both = { ...free([environment('production', rules)]) }
    expect(decide(both, inProduction())).toMatchObject({ is: 'wait', isParked: true })
  })
})

describe('an override', () => {
  const overriding = (tenant_id: string | null, may = true): StartRequest => {
    const request = inProduction({ overrides_rules: true })
    return { ...request, subject: { ...request.subject, caller: { may_override_freezes: may, tenant_id } } }
  }

  test('passes the rules, and says which', () => {
    expect(decide(free([approvals()]), asNew(overriding(null)))).toMatchObject({
      is: 'start',
      passed: [{ environment_id: 'production', environment_name: 'production', rules: ['approvals'] }],
    })
    expect(decide(free([approvals()]), asNew(overriding(null, false)))).toMatchObject({ is: 'wait', passed: [] })
  })

  test('of an admin of a tenant passes only rules of environments of that tenant', () => {
    const own = environment('production', approvals().rules, 'x')
    expect(codes(free([own]), overriding('x'))).toEqual([])
    expect(codes(free([approvals()]), overriding('x'))).toEqual(['approval'])
  })

  test('passes no freeze', () => {
    const facts = free([approvals()], { freezes: new FreezeSet([freezeOf(null)]) })
    expect(codes(facts, overriding(null))).toEqual(['freeze'])
  })
})

test('a parked request keeps nobody waiting', () => {
  const targets = [{ id: 't', name: 't', policy: 'queue' as const }]
  const parked = inProduction({}, { rank: 0, targets })
  const decisions = admit(free([approvals()]), [parked, arrival('later', { rank: 1, targets })], NOW)
  expect(decisions.map(({ is, request }) => `${request.id} ${is}`)).toEqual(['r wait', 'later start'])
})
