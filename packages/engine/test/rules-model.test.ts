import { expect, test } from '@jest/globals'
import { FreezeSet } from '@slipway/domain'
import fc from 'fast-check'
import {
  type Approval,
  admit,
  type Decision,
  type PromotionState,
  promotionKey,
  type RuledEnvironment,
  type Snapshot,
  type StartRequest,
} from '../src/index.ts'
import { approval, approver, freezeOf, instance, minutes, NOW, snapshot, start, terms } from './worlds.ts'

/** Minutes from now in which anything happens. */
const HORIZON = 40
const minute = fc.integer({ min: -20, max: 20 })
const sometimes = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 1 })
const ENVIRONMENTS = ['production', 'eu'] as const
const ROLES = ['managers', 'security'] as const

const someRules = fc.record({
  tenant_id: fc.constantFrom(null, 'x'),
  approvals: sometimes(
    fc.record({
      count: fc.integer({ min: 1, max: 2 }),
      role: fc.constantFrom(null, ...ROLES),
      allow_author: fc.boolean(),
      minutes: fc.integer({ min: 1, max: 30 }),
    }),
  ),
  windows: sometimes(fc.array(fc.tuple(minute, fc.integer({ min: 1, max: 15 })), { minLength: 1, maxLength: 3 })),
  promotion: sometimes(fc.constantFrom(0, 1)),
})
const someApproval = fc.record({
  user_id: fc.constantFrom('author', 'anna', 'ben'),
  counts: fc.boolean(),
  role_ids: fc.subarray([...ROLES]),
})
const someState = fc.record({
  versions: fc.array(
    fc.record({
      version: fc.constantFrom('1.1.0', '1.0.0'),
      variant: fc.constantFrom('a', 'b'),
      targets: fc.constant(1),
    }),
    { maxLength: 2 },
  ),
  drifted: fc.constantFrom(0, 0, 1),
  since: fc.integer({ min: -120, max: 0 }),
  was_in_force: fc.boolean(),
})
const someCase = fc.record({
  rules: fc.record({ production: sometimes(someRules), eu: sometimes(someRules) }),
  states: fc.record({ production: sometimes(someState), eu: sometimes(someState) }),
  named: fc.constantFrom(null, ...ENVIRONMENTS),
  placed: fc.subarray([...ENVIRONMENTS]),
  approvals: fc.uniqueArray(someApproval, { selector: ({ user_id }) => user_id }),
  queued: fc.integer({ min: -30, max: 0 }),
  start_at: fc.option(minute, { nil: null }),
  expires_at: fc.option(minute, { nil: null }),
  overrides: fc.constantFrom(null, null, 'all', 'x', 'may not'),
  isNew: fc.boolean(),
  frozen: fc.constantFrom(false, false, true),
  slots: fc.constantFrom(0, 1, 1, 1),
})
type Case = typeof someCase extends fc.Arbitrary<infer C> ? C : never

function build({ rules, states, ...given }: Case): { facts: Snapshot; request: StartRequest } {
  const environments = ENVIRONMENTS.flatMap((id): RuledEnvironment[] => {
    const found = rules[id]
    if (found === undefined) return []
    const { tenant_id, approvals, windows, promotion } = found
    return [
      {
        id,
        name: id,
        tenant_id,
        role_name: null,
        from_environment_name: 'staging',
        rules: {
          ...(approvals && { approvals: { ...approvals, expires_in_seconds: approvals.minutes * 60 } }),
          ...(windows && {
            windows: windows.map(([from, length]) => ({
              start_time: minutes(from).toISOString(),
              end_time: minutes(from + length).toISOString(),
            })),
          }),
          ...(promotion !== undefined && { promotion: { from_environment_id: 'staging', hours: promotion } }),
        },
      },
    ]
  })
  const tenant_id = given.overrides === 'x' ? 'x' : null
  const base = start('r')
  const request: StartRequest = {
    ...base,
    subject: {
      ...base.subject,
      environment_id: given.named,
      targets: given.placed.map((environment_id) => ({ tenant_id: null, environment_id })),
      caller: { may_override_freezes: given.overrides !== null && given.overrides !== 'may not', tenant_id },
    },
    terms: terms({
      queued_at: minutes(given.queued),
      start_at: given.start_at === null ? null : minutes(given.start_at),
      expires_at: given.expires_at === null ? null : minutes(given.expires_at),
      overrides_rules: given.overrides !== null,
      approvals: given.approvals.map(
        ({ user_id, counts, role_ids }): Approval => approval(user_id, { subject: counts ? approver(role_ids) : null }),
      ),
    }),
    arrival: given.isNew ? { status: 'new', older: [] } : null,
  }
  const promotions = new Map<string, PromotionState>()
  for (const id of ENVIRONMENTS) {
    const state = states[id]
    if (state !== undefined) promotions.set(promotionKey(request, id), { ...state, since: minutes(state.since) })
  }
  const facts = snapshot({
    instances: given.slots === 0 ? [] : [instance('i', given.slots)],
    rules: new Map(environments.map((each) => [each.id, each])),
    freezes: new FreezeSet(given.frozen ? [freezeOf(null)] : []),
    promotions,
  })
  return { facts, request }
}

/** The page of rules once more, minute by minute. */
function naive(given: Case): string {
  const at = Math.max(given.start_at ?? 0, 0)
  const obeyed = ENVIRONMENTS.filter((id) => given.named === id || given.placed.includes(id)).flatMap((id) => {
    const rules = given.rules[id]
    if (rules === undefined) return []
    const passes = given.overrides === 'all' || (given.overrides === 'x' && rules.tenant_id === 'x')
    return passes ? [] : [{ ...rules, state: given.states[id] }]
  })
  const lacking = obeyed.filter(({ approvals }) => {
    if (approvals === undefined) return false
    const good = given.approvals.filter(
      (one) =>
        one.counts &&
        (approvals.role === null || one.role_ids.includes(approvals.role)) &&
        (one.user_id !== 'author' || approvals.allow_author),
    )
    return good.length < approvals.count
  })
  const ends = obeyed.flatMap(({ approvals }) =>
    approvals === undefined ? [] : [Math.max(given.queued, given.start_at ?? given.queued) + approvals.minutes],
  )
  const isOpen = (moment: number) =>
    obeyed.every(
      ({ windows }) =>
        windows === undefined || windows.some(([from, length]) => from <= moment && moment < from + length),
    )
  const comes = Array.from({ length: HORIZON + 1 }, (_, step) => at + step).some(isOpen)
  const unproved = obeyed.flatMap(({ promotion, state }) => {
    if (promotion === undefined || state?.was_in_force) return []
    const [only, other] = state?.versions ?? []
    const isThere =
      state !== undefined &&
      only?.version === '1.1.0' &&
      only.variant === 'a' &&
      other === undefined &&
      state.drifted === 0
    if (!isThere) return ['never']
    return state.since + promotion * 60 <= at ? [] : ['later']
  })
  const isFrozen = given.frozen && at < 60
  if (!given.isNew) {
    if (given.expires_at !== null && given.expires_at <= 0) return 'end expired'
    if (lacking.length > 0 && Math.min(...ends) <= 0) return 'end approval_expired'
    if (!comes) return 'end failed'
    const isTime = at === 0 && lacking.length === 0 && isOpen(at) && !isFrozen
    if (unproved.includes('never') && isTime) return 'end failed'
  } else {
    if (given.expires_at !== null && given.expires_at <= 0) return 'refuse VALIDATION_ERROR'
    if (!comes) return 'refuse CONFLICT'
    if (unproved.length > 0) return 'refuse NOT_PROMOTED'
    if (isFrozen && at === 0) return 'refuse DEPLOYMENT_FROZEN'
  }
  const isBlocked = at > 0 || lacking.length > 0 || !isOpen(at) || unproved.length > 0
  if (isBlocked) return 'wait parked'
  return isFrozen || given.slots === 0 ? 'wait' : 'start'
}

function outcomeOf(decision: Decision | undefined): string {
  if (decision?.is === 'end') return `end ${decision.because ?? decision.status}`
  if (decision?.is === 'refuse') return `refuse ${decision.problem.code}`
  return decision?.is === 'wait' && decision.isParked ? 'wait parked' : (decision?.is ?? 'nothing')
}

test('a naive second implementation agrees on every start, refusal and end', () => {
  fc.assert(
    fc.property(someCase, (given) => {
      const { facts, request } = build(given)
      expect(outcomeOf(admit(facts, [request], NOW)[0])).toBe(naive(given))
    }),
    { numRuns: 3_000 },
  )
})

test('a request that waits is judged again no later than anything can change by itself', () => {
  fc.assert(
    fc.property(someCase, (given) => {
      const { facts, request } = build({ ...given, isNew: false, slots: 1 })
      const [decision] = admit(facts, [request], NOW)
      if (decision?.is !== 'wait') return
      const review = decision.review_at?.getTime() ?? Number.POSITIVE_INFINITY
      for (let step = 1; step <= HORIZON; step += 1) {
        const at = minutes(step)
        const later = admit({ ...facts, now: at }, [request], at)[0]
        // Without a parking reason, the queue judges it in its turn.
        if (decision.isParked && outcomeOf(later) !== 'wait parked') {
          expect(review).toBeLessThanOrEqual(at.getTime())
          return
        }
      }
    }),
    { numRuns: 500 },
  )
})
