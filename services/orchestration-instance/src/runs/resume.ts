import { failureFields } from '@slipway/commands'
import type { RunSpec } from '@slipway/contracts'
import type { CommandFailure, StepRef } from '@slipway/domain'
import type { EventLog } from '../events/event-log.ts'
import { keyOf, type OpenAttempt, type Progress, stepOf } from './progress.ts'
import { interrupted, type Wording } from './wording.ts'

interface InterruptedRun {
  spec: RunSpec
  progress: Progress
  events: EventLog
  wording: Wording
  /** Whether the deployment has timed out: then no command gets another attempt. */
  outOfTime: boolean
}

/**
 * Reports the commands that have no end in the journal, and updates `progress`. An unknown outcome counts as a failed attempt.
 * The next attempt has the next number, so no attempt of a step starts twice. A rollback script has one attempt only. A command that
 * never ran does not count: it starts with the same number.
 */
export function resolveInterruption({ spec, progress, events, wording, outOfTime }: InterruptedRun): void {
  const interruption = progress.fenced ? 'fenced' : 'restarted'
  const stopping = () =>
    outOfTime || (spec.options.failure_strategy === 'stop_on_first_failure' && progress.hasFailures)
  const openAttempts = [...progress.openAttempts.values()]
  // Commands without attempts left come first: their failure may stop the others.
  const mayStart = (open: StepRef & OpenAttempt) => open.neverRan || mayRetry(spec, open)
  openAttempts.sort((a, b) => Number(mayStart(a)) - Number(mayStart(b)))
  for (const open of openAttempts) {
    if (open.neverRan && !stopping()) {
      progress.nextAttempts.set(keyOf(open), open.attempt)
      continue
    }
    const failure = interrupted(interruption, 'command')
    if (mayRetry(spec, open) && !stopping()) {
      if (open.failed) continue
      const attempts = (spec.actions[open.action]?.max_retries ?? 0) + 1
      events.emitSystemLine(
        'warning',
        open,
        `${wording.place(open)} failed: ${failure.message}; next attempt (${open.attempt + 2} of ${attempts})`,
      )
      events.note({ failed_try: [open.target, open.action, open.attempt] })
    } else {
      endFailed(open, failure, { progress, events, wording })
    }
  }
  for (const step of progress.openRollbacks.values()) {
    if (step.neverRan) continue
    const { message } = interrupted(interruption, 'rollback script')
    events.emitSystemLine('error', step, `Rollback of ${wording.place(step)} failed: ${message}`)
    const at = new Date().toISOString()
    events.emit({ type: 'rollback_ended', at, ...stepOf(step), ok: false, error_message: message })
    progress.end(step, 'rollback_failed')
  }
}

function mayRetry(spec: RunSpec, { action, attempt }: StepRef & OpenAttempt): boolean {
  return attempt < (spec.actions[action]?.max_retries ?? 0)
}

function endFailed(
  open: StepRef & OpenAttempt,
  failure: CommandFailure,
  run: Omit<InterruptedRun, 'spec' | 'outOfTime'>,
): void {
  const { progress, events, wording } = run
  events.emit({
    type: 'step_ended',
    at: new Date().toISOString(),
    ...stepOf(open),
    attempt: open.attempt,
    state: 'failed',
    exit_code: null,
    error_message: failure.message,
    ...failureFields(failure),
    started_at: open.startedAt,
    stdout_tail: '',
    stderr_tail: '',
  })
  events.emitSystemLine('error', open, `${wording.place(open)} failed: ${failure.message}`, { exit_code: null })
  progress.end(open, 'failed')
  progress.firstFailure ??= wording.firstFailure(open, failure.message)
}
