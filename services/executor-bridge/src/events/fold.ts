import type { LogEvent, RunEvent } from '@slipway/contracts'
import type { StepMove, StepResult } from '@slipway/database'
import { type StepState, stepSourcesOf } from '@slipway/domain'
import { IllegalEvent } from '../callers/refusal.ts'
import type { RunEnd } from '../runs/progress.ts'
import { storableText } from '../storable.ts'

/** The effect of a batch on one step. Its `sources` are the states from which the first event of the step may move it. */
export interface StepChange extends Omit<StepMove, 'result'> {
  /** How the last attempt ended. */
  result: AttemptResult | null
}

interface AttemptResult extends Omit<StepResult, 'analysis'> {
  subject: string | null
  completed_at: string
}

export interface FoldedBatch {
  steps: StepChange[]
  lines: LogEvent[]
  hostKeys: Map<number, string>
  seen: Set<number>
  /** Whether the run rolls back: it has said so, or a step is rolled back. */
  rollingBack: boolean
  finished: RunEnd | null
}

interface PlanSize {
  targets: number
  actions: number
}

// A further attempt, and a repeated rollback, start in the state that they enter.
const SOURCES = {
  started: [...stepSourcesOf('running'), 'running'],
  ended: ['running'],
  skipped: stepSourcesOf('skipped'),
  rollbackStarted: [...stepSourcesOf('rolling_back'), 'rolling_back'],
  rollbackEnded: ['rolling_back'],
} satisfies Record<string, StepState[]>

/**
 * The net effect of a batch's events: several events of one step become one change. `firstEvent` is for the message.
 * @throws IllegalEvent for impossible events: places outside the plan, steps out of order, events after the end
 */
export function foldEvents(events: readonly RunEvent[], size: PlanSize, firstEvent: number): FoldedBatch {
  const batch: FoldedBatch = {
    steps: [],
    lines: [],
    hostKeys: new Map(),
    seen: new Set(),
    rollingBack: false,
    finished: null,
  }
  const steps = new Map<number, StepChange>()
  for (const [offset, event] of events.entries()) {
    const refuse = (reason: string) => new IllegalEvent(`Event ${firstEvent + offset} (${event.type}): ${reason}`)
    if (batch.finished) throw refuse('the run has ended before')
    if (event.type === 'log') {
      checkPlace(size, event.target ?? 0, event.action ?? 0, refuse)
      batch.lines.push(event)
      continue
    }
    takeEvent(batch, event, (target, action, sources, state) => {
      checkPlace(size, target, action, refuse)
      const key = target * size.actions + action
      const before = steps.get(key)
      if (before && !sources.includes(before.state)) throw refuse(`step ${target}/${action} is ${before.state}`)
      const change = before ?? newChange(target, action, sources)
      change.state = state
      steps.set(key, change)
      return change
    })
    checkMentioned(size, event, refuse)
  }
  batch.steps = [...steps.values()]
  return batch
}

type Refuse = (reason: string) => Error
type ChangeStep = (target: number, action: number, sources: readonly StepState[], state: StepState) => StepChange

function takeEvent(batch: FoldedBatch, event: Exclude<RunEvent, LogEvent>, move: ChangeStep): void {
  switch (event.type) {
    case 'step_started': {
      const change = move(event.target, event.action, SOURCES.started, 'running')
      change.retry_count = event.attempt
      change.started_at ??= event.at
      change.attempt_started_at = event.at
      return
    }
    case 'step_ended': {
      const change = move(event.target, event.action, SOURCES.ended, event.state)
      const { state: status, exit_code, error_message, started_at, stdout_tail, stderr_tail } = event
      const { reason = null, subject = null } = event
      change.retry_count = event.attempt
      change.completed_at = event.at
      change.result = {
        status,
        exit_code,
        error_message,
        reason,
        subject,
        started_at,
        completed_at: event.at,
        stdout_tail,
        stderr_tail,
      }
      return
    }
    case 'steps_skipped':
      for (const [target, action] of event.steps) {
        move(target, action, SOURCES.skipped, 'skipped').completed_at = event.at
      }
      return
    case 'rollback_started':
      move(event.target, event.action, SOURCES.rollbackStarted, 'rolling_back')
      batch.rollingBack = true
      return
    case 'rollback_ended':
      // The step keeps the exit code and the error of its command.
      move(event.target, event.action, SOURCES.rollbackEnded, event.ok ? 'rolled_back' : 'rollback_failed')
      batch.rollingBack = true
      return
    case 'rolling_back':
      batch.rollingBack = true
      return
    case 'host_key':
      if (!batch.hostKeys.has(event.target)) batch.hostKeys.set(event.target, event.host_key)
      batch.seen.add(event.target)
      return
    case 'target_seen':
      batch.seen.add(event.target)
      return
    case 'finished':
      batch.finished = endOf(event)
      return
    default:
      event satisfies never
  }
}

function endOf({ outcome, reason, error_message }: Extract<RunEvent, { type: 'finished' }>): RunEnd {
  return { outcome, reason: reason ?? null, error_message: error_message === null ? null : storableText(error_message) }
}

function newChange(target: number, action: number, sources: readonly StepState[]): StepChange {
  const nothing = { retry_count: null, started_at: null, attempt_started_at: null, completed_at: null, result: null }
  return { target, action, sources, state: 'pending', ...nothing }
}

/** Checks the places of events that move no step. */
function checkMentioned(size: PlanSize, event: Exclude<RunEvent, LogEvent>, refuse: Refuse): void {
  if (event.type === 'host_key' || event.type === 'target_seen') checkPlace(size, event.target, 0, refuse)
}

function checkPlace(size: PlanSize, target: number, action: number, refuse: Refuse): void {
  if (target < size.targets && action < size.actions) return
  throw refuse(
    `target ${target}, action ${action} is outside the plan of ${size.targets} targets and ${size.actions} actions`,
  )
}
