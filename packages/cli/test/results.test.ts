import { expect, test } from '@jest/globals'
import { summarizeTargets } from '../src/terminal/results.ts'

type Detail = Parameters<typeof summarizeTargets>[0]

const summarize = (state: string, steps: Record<string, readonly string[]>) => {
  const all = Object.entries(steps).flatMap(([target, states]) =>
    states.map((one) => ({
      target_id: target,
      target_name: target,
      state: one,
      error_message: null,
      started_at: null,
      completed_at: null,
    })),
  )
  const results = summarizeTargets({ state, plan: { steps: all } } as unknown as Detail)
  return Object.fromEntries(results.map(({ target, result }) => [target, result]))
}

test('a target of a running deployment runs, waits or has ended', () => {
  expect(
    summarize('running', {
      runs: ['running', 'pending'],
      between: ['completed', 'pending'],
      waits: ['pending', 'pending'],
      done: ['completed', 'completed'],
      failed: ['failed', 'pending'],
      back: ['rolling_back', 'failed'],
    }),
  ).toEqual({
    runs: 'running',
    between: 'running',
    waits: 'waiting',
    done: 'success',
    failed: 'failed',
    back: 'rolling back',
  })
})

test('a target of an ended deployment is complete, incomplete or not touched', () => {
  expect(
    summarize('success', { done: ['completed'], part: ['completed', 'skipped'], none: ['skipped', 'skipped'] }),
  ).toEqual({ done: 'success', part: 'incomplete', none: 'not touched' })
})
