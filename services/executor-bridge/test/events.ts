import type { RunEvent } from '@slipway/contracts'

const at = '2026-01-31T09:00:00.000Z'

/** Run events as an instance sends them. */
export const started = (target: number, action: number, attempt = 0): RunEvent => ({
  type: 'step_started',
  at,
  target,
  action,
  attempt,
})

export const ended = (
  target: number,
  action: number,
  fields: Partial<Extract<RunEvent, { type: 'step_ended' }>> = {},
): RunEvent => ({
  type: 'step_ended',
  at: '2026-01-31T09:00:02.000Z',
  target,
  action,
  attempt: 0,
  state: 'completed',
  exit_code: 0,
  error_message: null,
  started_at: at,
  stdout_tail: '',
  stderr_tail: '',
  ...fields,
})

export const line = (number: number, text = `line ${number}`): RunEvent => ({
  type: 'log',
  at,
  target: 0,
  action: 0,
  stream: 'stdout',
  level: 'info',
  line: number,
  text,
})

export const finished = (outcome: 'success' | 'failed' | 'rolled_back' = 'success'): RunEvent => ({
  type: 'finished',
  at,
  outcome,
  error_message: outcome === 'failed' ? 'release on target 0 failed: exit code 3' : null,
})
