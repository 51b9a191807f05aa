import { PassThrough } from 'node:stream'
import { expect, test } from '@jest/globals'
import type { Schema } from '@slipway/client'
import type { LogStreamMessage, StreamLog } from '@slipway/contracts'
import { Screen } from '../src/terminal/screen.ts'
import { DeploymentView } from '../src/terminal/watch.ts'

const target = (n: number) => ({
  id: `step-${n}`,
  target_id: `target-${n}`,
  target_name: `web-${n}`,
  action_name: 'release',
})
const deployment = {
  id: 'd',
  state: 'running',
  progress: 0,
  completed_steps: 0,
  total_steps: 6,
  plan: { steps: [1, 2, 3, 4, 5, 6].map(target) },
} as unknown as Schema<'DeploymentDetail'>

/** The output for a deployment that is rolled back after two of six targets. */
function written(isTerminal: boolean): string {
  const stream = Object.assign(new PassThrough(), { isTTY: isTerminal, columns: 120, rows: 60 })
  const screen = new Screen(stream, {})
  const watch = new DeploymentView(deployment, screen, { log: false })
  const step = (n: number, state: 'completed' | 'failed' | 'rolled_back' | 'skipped') => {
    const data = {
      type: 'step_update',
      step_id: `step-${n}`,
      state,
      exit_code: null,
      error_message: null,
      output: null,
    }
    watch.show({ event: 'step_update', data } as LogStreamMessage)
  }
  const progress = (share: number, completed_steps: number) => {
    const data = {
      type: 'progress',
      deployment_id: 'd',
      progress: share,
      completed_steps,
      total_steps: 6,
      message: null,
    }
    watch.show({ event: 'progress', data } as LogStreamMessage)
  }
  const state = (old_state: string, new_state: string) =>
    watch.show({ event: 'state_change', data: { type: 'state_change', old_state, new_state } } as LogStreamMessage)
  step(1, 'completed')
  progress(1 / 6, 1)
  step(2, 'failed')
  progress(2 / 6, 1)
  state('running', 'rolling_back')
  step(1, 'rolled_back')
  for (const n of [3, 4, 5, 6]) step(n, 'skipped')
  progress(1, 0)
  state('rolling_back', 'rolled_back')
  screen.end()
  return stream.read().toString()
}

test('an unfinished line is replaced by its next version and by the line, on a terminal only', () => {
  const show = (isTerminal: boolean) => {
    const stream = Object.assign(new PassThrough(), { isTTY: isTerminal, columns: 120, rows: 60 })
    const screen = new Screen(stream, {})
    const watch = new DeploymentView(deployment, screen, { log: true })
    const log = (message: string, metadata: StreamLog['metadata']) => {
      const where = { step_id: 'step-1', target_id: 'target-1', target_name: 'web-1' }
      watch.show({
        event: 'log',
        data: { type: 'log', log: { timestamp: '2026-01-31T00:00:00Z', level: 'info', ...where, message, metadata } },
      })
    }
    log('10%', { partial: true })
    log('50%', { partial: true })
    screen.end()
    log('done', { seq: 0 })
    screen.end()
    return stream.read().toString() as string
  }
  const terminal = show(true)
  expect(terminal).toContain('web-1 | 50%\n')
  expect(terminal).not.toContain('10%')
  expect(terminal.slice(terminal.indexOf('done'))).not.toContain('50%')
  expect(show(false)).toBe('web-1 | done\n')
})

test('a watch shows the complete steps and the state, not the share of steps that need no more work', () => {
  expect(written(false).split('\n')).toEqual([
    'progress: 1 of 6 steps are complete',
    'progress: 1 of 6 steps are complete',
    'state: rolling_back',
    'progress: 0 of 6 steps are complete',
    'state: rolled_back',
    '',
  ])
  const terminal = written(true)
  expect(terminal).toMatch(/^web-3 \[-{20}\] 0\/1/m)
  expect(terminal).toMatch(/\[-{20}\] 0 of 6 steps are complete, rolling back/)
  expect(terminal).not.toContain('%')
})
