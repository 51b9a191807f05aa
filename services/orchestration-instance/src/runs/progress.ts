import type { RunEvent, RunSpec } from '@slipway/contracts'
import type { EndedStep, StepRef } from '@slipway/domain'
import type { JournalRecord } from '../journal/records.ts'
import { wordingOf } from './wording.ts'

/** A command whose start was reported. Its end is not known. */
interface OpenCommand {
  /** The number of the event that reported the start. */
  event: number
  /** Whether it was killed before it began. */
  neverRan: boolean
}

export interface OpenAttempt extends OpenCommand {
  attempt: number
  startedAt: string
  /** Whether the attempt has failed and the next one waits for its backoff. */
  failed: boolean
}

/** The state of a run, from its specification and, after an interruption, from its journal. */
export class Progress {
  readonly #spec: RunSpec
  readonly #ended = new Map<string, EndedStep>()
  /** The number of the next attempt of each step, if it is not 0. */
  readonly nextAttempts = new Map<string, number>()
  readonly openAttempts = new Map<string, StepRef & OpenAttempt>()
  readonly openRollbacks = new Map<string, StepRef & OpenCommand>()
  readonly hostKeys = new Map<number, string>()
  phase: RunSpec['phase']
  /** Whether a `rolling_back` event was sent. */
  rollbackAnnounced = false
  firstFailure: string | null = null
  finished = false
  /** Whether the last interruption was a loss of contact with the bridge, not a restart. */
  fenced = false
  nextEvent = 0
  nextLine: number
  /** The bridge has acknowledged all events before this one. */
  acknowledged = 0

  constructor(spec: RunSpec) {
    this.#spec = spec
    this.phase = spec.phase
    this.rollbackAnnounced = spec.phase === 'rolling_back'
    this.nextLine = spec.first_line
    for (const { target, action, state, retry_count } of spec.steps) {
      const step = { target, action }
      if (state !== 'pending') this.end(step, state)
      else if (retry_count > 0) this.nextAttempts.set(keyOf(step), retry_count)
      if (state === 'failed') this.firstFailure ??= `${wordingOf(spec).place(step)} failed`
    }
  }

  get ended(): EndedStep[] {
    return [...this.#ended.values()]
  }

  get hasFailures(): boolean {
    return this.ended.some(({ state }) => state === 'failed')
  }

  end(step: StepRef, state: EndedStep['state']): void {
    this.#ended.set(keyOf(step), { ...stepOf(step), state })
  }

  /** Applies one line of the journal. */
  add(record: JournalRecord): void {
    if ('n' in record) this.#addEvent(record.n, record.event)
    else if ('failed_try' in record) this.#failAttempt(record.failed_try)
    else if ('fenced' in record) this.fenced = true
    else if ('suspended' in record) this.#suspend(record.acknowledged)
    else this.#acknowledge(record)
  }

  #acknowledge({ acknowledged, next_line = 0 }: { acknowledged: number; next_line?: number }): void {
    this.acknowledged = Math.max(this.acknowledged, acknowledged)
    this.nextEvent = Math.max(this.nextEvent, acknowledged)
    this.nextLine = Math.max(this.nextLine, next_line)
  }

  #suspend(acknowledged: number): void {
    // A command begins only after the bridge has acknowledged the report of its start.
    for (const open of this.openAttempts.values()) open.neverRan ||= !open.failed && open.event >= acknowledged
    for (const open of this.openRollbacks.values()) open.neverRan ||= open.event >= acknowledged
  }

  #addEvent(n: number, event: RunEvent): void {
    this.nextEvent = Math.max(this.nextEvent, n + 1)
    switch (event.type) {
      case 'log':
        this.nextLine = Math.max(this.nextLine, event.line + 1)
        break
      case 'step_started':
        this.fenced = false
        this.openAttempts.set(keyOf(event), {
          ...stepOf(event),
          event: n,
          neverRan: false,
          attempt: event.attempt,
          startedAt: event.at,
          failed: false,
        })
        this.nextAttempts.set(keyOf(event), event.attempt + 1)
        break
      case 'step_ended':
        this.openAttempts.delete(keyOf(event))
        this.end(stepOf(event), event.state)
        if (event.state === 'failed') this.#noteFailure(event, event.error_message)
        break
      case 'steps_skipped':
        for (const [target, action] of event.steps) this.end({ target, action }, 'skipped')
        break
      case 'rolling_back':
        this.phase = 'rolling_back'
        this.rollbackAnnounced = true
        break
      case 'rollback_started':
        this.fenced = false
        this.openRollbacks.set(keyOf(event), { ...stepOf(event), event: n, neverRan: false })
        break
      case 'rollback_ended':
        this.openRollbacks.delete(keyOf(event))
        this.end(stepOf(event), event.ok ? 'rolled_back' : 'rollback_failed')
        break
      case 'host_key':
        this.hostKeys.set(event.target, event.host_key)
        break
      case 'finished':
        this.finished = true
        break
    }
  }

  #noteFailure(step: StepRef, reason: string | null): void {
    this.firstFailure ??= wordingOf(this.#spec).firstFailure(step, reason ?? 'no reason is known')
  }

  #failAttempt([target, action, attempt]: [number, number, number]): void {
    const open = this.openAttempts.get(keyOf({ target, action }))
    if (open?.attempt === attempt) open.failed = true
  }
}

export function keyOf({ target, action }: StepRef): string {
  return `${target}/${action}`
}

export function stepOf({ target, action }: StepRef): StepRef {
  return { target, action }
}
