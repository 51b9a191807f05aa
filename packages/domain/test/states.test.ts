import { describe, expect, test } from '@jest/globals'
import {
  canPendingTransition,
  canStepTransition,
  canTransition,
  DEPLOYMENT_STATES,
  isEndedStepState,
  isFinalDeploymentState,
  isFinalPendingState,
  PENDING_STATES,
  pendingSourcesOf,
  STEP_STATES,
  sourcesOf,
  stepSourcesOf,
} from '../src/index.ts'

const paths = <S extends string>(states: readonly S[], can: (from: S, to: S) => boolean) =>
  states.flatMap((from) => states.filter((to) => can(from, to)).map((to) => `${from} → ${to}`))

test('deployments have exactly the state transitions of the interface', () => {
  expect(paths(DEPLOYMENT_STATES, canTransition)).toEqual([
    'pending → queued',
    'pending → running',
    'pending → cancelled',
    'queued → running',
    'queued → cancelled',
    'running → success',
    'running → failed',
    'running → cancelled',
    'running → rolling_back',
    'rolling_back → failed',
    'rolling_back → rolled_back',
  ])
  expect(DEPLOYMENT_STATES.filter(isFinalDeploymentState)).toEqual(['success', 'failed', 'cancelled', 'rolled_back'])
  expect(sourcesOf('failed')).toEqual(['running', 'rolling_back'])
  expect(sourcesOf('pending')).toEqual([])
})

test('steps have exactly the state transitions of the interface', () => {
  expect(paths(STEP_STATES, canStepTransition)).toEqual([
    'pending → running',
    'pending → cancelled',
    'pending → skipped',
    'running → pending',
    'running → completed',
    'running → failed',
    'running → cancelled',
    'completed → rolling_back',
    'failed → rolling_back',
    'rolling_back → rolled_back',
    'rolling_back → rollback_failed',
  ])
  expect(stepSourcesOf('rolling_back')).toEqual(['completed', 'failed'])
})

test('pending requests have exactly the status transitions of the interface', () => {
  expect(paths(PENDING_STATES, canPendingTransition)).toEqual([
    'pending → processing',
    'pending → cancelled',
    'processing → pending',
    'processing → dispatched',
    'processing → cancelled',
    'processing → failed',
  ])
  expect(pendingSourcesOf('cancelled')).toEqual(['pending', 'processing'])
  expect(PENDING_STATES.filter(isFinalPendingState)).toEqual(['dispatched', 'cancelled', 'failed'])
})

describe('progress', () => {
  test('never decreases, because an ended step stays ended', () => {
    for (const from of STEP_STATES.filter(isEndedStepState)) {
      for (const to of STEP_STATES) {
        if (canStepTransition(from, to)) expect([from, to, isEndedStepState(to)]).toEqual([from, to, true])
      }
    }
    expect(STEP_STATES.filter((state) => !isEndedStepState(state))).toEqual(['pending', 'running'])
  })
})
