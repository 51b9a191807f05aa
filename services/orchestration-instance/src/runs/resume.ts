import type { RunSpec } from '@slipway/contracts'
import type { StepRef } from '@slipway/domain'
import type { EventLog } from '../events/event-log.ts'
import type { OpenTry, Progress } from './progress.ts'
import { interrupted, type Wording } from './wording.ts'

export interface Interrupted {
  spec: RunSpec
  progress: Progress
  events: EventLog
  wording: Wording
  /** The deployment's time is over: nothing is tried again. */
  outOfTime: boolean
}

/**
 * Says what became of the commands whose end the journal does not know. Their outcome is unknown, which counts as a
 * failed try: the next one has the next number, so that no try of a step ever starts twice. A rollback script has only
 * one. Completes `progress` as a run that was never interrupted would have.
 */
export function resolveInterruption({ spec, progress, events, wording, outOfTime }: Interrupted): void {
  const interruption = progress.fenced ? 'fenced' : 'restarted'
  const stopping = () =>
    outOfTime || (spec.options.failure_strategy === 'stop_on_first_failure' && progress.hasFailures)
  const openTries = [...progress.openTries.values()]
  // Those that can only fail come first: a failure may stop the others.
  openTries.sort((a, b) => Number(mayRetry(spec, a)) - Number(mayRetry(spec, b)))
  for (const open of openTries) {
    const reason = interrupted(interruption, 'command')
    if (mayRetry(spec, open) && !stopping()) {
      if (open.failed) continue
      const tries = (spec.actions[open.action]?.max_retries ?? 0) + 1
      say(
        events,
        'warning',
        open,
        `${wording.place(open)} failed: ${reason}; next try (${open.attempt + 2} of ${tries})`,
      )
      events.note({ failed_try: [open.target, open.action, open.attempt] })
    } else {
      endFailed(open, reason, { progress, events, wording })
    }
  }
  for (const step of progress.openRollbacks.values()) {
    const reason = interrupted(interruption, 'rollback script')
    say(events, 'error', step, `Rollback of ${wording.place(step)} failed: ${reason}`)
    const at = new Date().toISOString()
    events.emit({ type: 'rollback_ended', at, ...placeOf(step), ok: false, error_message: reason })
    progress.end(step, 'rollback_failed')
  }
}

function mayRetry(spec: RunSpec, { action, attempt }: StepRef & OpenTry): boolean {
  return attempt < (spec.actions[action]?.max_retries ?? 0)
}

function endFailed(open: StepRef & OpenTry, reason: string, run: Omit<Interrupted, 'spec' | 'outOfTime'>): void {
  const { progress, events, wording } = run
  events.emit({
    type: 'step_ended',
    at: new Date().toISOString(),
    ...placeOf(open),
    attempt: open.attempt,
    state: 'failed',
    exit_code: null,
    error_message: reason,
    started_at: open.startedAt,
    stdout_tail: '',
    stderr_tail: '',
  })
  say(events, 'error', open, `${wording.place(open)} failed: ${reason}`, { exit_code: null })
  progress.end(open, 'failed')
  progress.firstFailure ??= wording.firstFailure(open, reason)
}

function say(
  events: EventLog,
  level: 'warning' | 'error',
  step: StepRef,
  text: string,
  metadata?: Record<string, unknown>,
): void {
  events.emitLine({ ...placeOf(step), stream: 'system', level, text, ...(metadata && { metadata }) })
}

function placeOf({ target, action }: StepRef): StepRef {
  return { target, action }
}
