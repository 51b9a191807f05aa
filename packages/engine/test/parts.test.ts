import { describe, expect, test } from '@jest/globals'
import {
  DEPLOYMENT_STATES,
  FAILURE_STRATEGIES,
  isFinalDeploymentState,
  type ReleaseState,
  ROLLBACK_STRATEGIES,
  type RollbackStrategy,
  STEP_STATES,
  type StepState,
} from '@slipway/domain'
import fc from 'fast-check'
import { type Part, type PartState, partState, type ReleasedDeployment, releaseOf } from '../src/index.ts'

interface Step {
  state: StepState
  hasRollback: boolean
  startedAt: Date | null
  endedAt: Date | null
}

const AT = new Date('2026-11-29T12:00:00Z')
const time = fc.option(fc.integer({ min: 0, max: 59 }).map((second) => new Date(Date.UTC(2026, 10, 29, 11, 0, second))))
const step = fc.record({
  state: fc.constantFrom(...STEP_STATES),
  hasRollback: fc.boolean(),
  startedAt: time,
  endedAt: time,
})
const steps = fc.array(step, { minLength: 1, maxLength: 5 })
const deployment = fc.record({
  state: fc.constantFrom(...DEPLOYMENT_STATES),
  failureStrategy: fc.constantFrom(...FAILURE_STRATEGIES),
})
const released = deployment.map((one) => ({ ...one, isOver: isFinalDeploymentState(one.state) }))

const extreme = (times: (Date | null)[], pick: (...numbers: number[]) => number): Date | null => {
  const known = times.filter((one) => one !== null).map((one) => one.getTime())
  return known.length === 0 ? null : new Date(pick(...known))
}

/** What the statement reads of these steps. */
const partOf = (of: readonly Step[]): Part => ({
  states: [...new Set(of.map(({ state }) => state))],
  revertibleStates: [...new Set(of.filter(({ hasRollback }) => hasRollback).map(({ state }) => state))],
  wasStopped: of.some(({ state, startedAt }) => state === 'cancelled' && startedAt !== null),
  startedAt: extreme(
    of.map(({ startedAt }) => startedAt),
    Math.min,
  ),
  lastEndAt: extreme(
    of.map(({ endedAt }) => endedAt),
    Math.max,
  ),
})

/** The rules a second time, step by step. */
function naivePart(of: readonly Step[], strategy: RollbackStrategy): PartState {
  let failed = false
  let left = false
  for (const { state, hasRollback } of of) {
    if (state === 'pending' || state === 'running' || state === 'rolling_back') return 'open'
    if (state === 'failed' || state === 'rolled_back' || state === 'rollback_failed') failed = true
    if (hasRollback && (state === 'completed' || state === 'failed')) left = true
  }
  if (!left || strategy === 'none') return 'over'
  return strategy === 'failed_target_only' && !failed ? 'over' : 'revertible'
}

function naiveRelease(of: readonly Step[], { state, isOver, failureStrategy }: ReleasedDeployment): ReleaseState {
  const count = (...states: StepState[]) => of.filter((one) => states.includes(one.state)).length
  const left = of.filter(({ state, hasRollback }) => hasRollback && (state === 'completed' || state === 'failed'))
  const reverted = count('rolled_back', 'rollback_failed')
  if (count('rolling_back') > 0 || (reverted > 0 && !isOver && left.length > 0)) return 'rolling_back'
  if (reverted > 0) return count('rollback_failed') > 0 ? 'rollback_failed' : 'rolled_back'
  if (count('running') > 0 || (!isOver && count('pending') > 0)) return 'running'
  const good = count('completed') + (failureStrategy === 'ignore_failures' ? count('failed') : 0)
  if (good === of.length) return 'applied'
  return count('cancelled') > 0 || state === 'cancelled' ? 'cancelled' : 'failed'
}

const naivelyBegun = (of: readonly Step[]) =>
  of.some(({ state, startedAt }) =>
    state === 'cancelled' ? startedAt !== null : state !== 'pending' && state !== 'skipped',
  )

test('the state of a part agrees with its steps', () => {
  fc.assert(
    fc.property(steps, fc.constantFrom(...ROLLBACK_STRATEGIES), (of, strategy) => {
      expect(partState(partOf(of), strategy)).toBe(naivePart(of, strategy))
    }),
    { numRuns: 2_000 },
  )
})

test('the release of a part agrees with its steps', () => {
  fc.assert(
    fc.property(steps, released, fc.boolean(), (of, by, hasBegun) => {
      const part = partOf(of)
      const release = releaseOf(part, by, hasBegun, AT)
      if (!hasBegun && !naivelyBegun(of)) {
        expect(release).toBeNull()
        return
      }
      const state = naiveRelease(of, by)
      const isOpen = state === 'running' || state === 'rolling_back'
      const endedAt = state === 'applied' ? part.lastEndAt : isOpen ? null : AT
      expect(release).toEqual({ state, begunAt: part.startedAt ?? AT, endedAt })
    }),
    { numRuns: 5_000 },
  )
})

describe('a part whose commands have succeeded', () => {
  const done: Step[] = [{ state: 'completed', hasRollback: true, startedAt: AT, endedAt: AT }]

  test('is over unless a failure elsewhere may roll it back', () => {
    expect(ROLLBACK_STRATEGIES.map((strategy) => partState(partOf(done), strategy))).toEqual([
      'over',
      'over',
      'revertible',
    ])
  })

  test('is in force, also after a cancel', () => {
    const by: ReleasedDeployment = { state: 'cancelled', isOver: true, failureStrategy: 'stop_on_first_failure' }
    expect(releaseOf(partOf(done), by, true, AT)).toMatchObject({ state: 'applied', endedAt: AT })
  })
})
