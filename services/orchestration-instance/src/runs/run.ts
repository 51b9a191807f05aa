import { failureFields, KILL_GRACE_MS, Kill, whenAborted } from '@slipway/commands'
import type { RunFailureReason, RunSpec } from '@slipway/contracts'
import { Schedule, type StepRef } from '@slipway/domain'
import { after, sleep } from '@slipway/runtime'
import type { EventLog } from '../events/event-log.ts'
import type { JournalDisk } from '../journal/journal-disk.ts'
import type { AttemptResult, CommandRunner } from './command-runner.ts'
import { retries } from './metrics.ts'
import { keyOf, type Progress } from './progress.ts'
import { resolveInterruption } from './resume.ts'
import type { StepValues } from './step-values.ts'
import { capitalized, deploymentTimedOut, type Wording, wordingOf } from './wording.ts'

const MAX_RETRY_WAIT_MS = 30_000
const MAX_SKIPPED_IN_EVENT = 10_000
/** How many connections are opened in advance while commands run on other targets. */
const MAX_AHEAD = 16

export interface RunOptions {
  spec: RunSpec
  progress: Progress
  /** Milliseconds until the timeout of the deployment; null for no limit. */
  remainingMs: number | null
  parallelLimit: number
  events: EventLog
  disk: JournalDisk
  values: StepValues
  commands: CommandRunner
  /** Called after the last event. */
  onFinished(): void
  /** Called for an unexpected error, which is a defect. */
  onError(error: unknown): void
}

interface Failure {
  reason: RunFailureReason
  error_message: string
}

const commandFailed = (error_message: string): Failure => ({ reason: 'command_failed', error_message })

const NOTHING_COMPLETED: Failure = {
  reason: 'nothing_completed',
  error_message: 'No step of the deployment was completed',
}
const NO_FAILURE = { reason: null, error_message: null }

/**
 * One run: starts the commands that its schedule allows, retries failed ones, and reports every change.
 *
 *     working → finished            the schedule has ended
 *     working → pausing → killed    no command starts; running commands get time to end. A restart resumes the run.
 *     working → killed              the run reports nothing more
 */
export class Run {
  readonly #options: RunOptions
  readonly #schedule: Schedule
  readonly #wording: Wording
  readonly #active = new Set<Promise<void>>()
  readonly #prepared = new Set<number>()
  /** Ends all commands and rollback scripts. */
  readonly #killed = new AbortController()
  /** Steps with a killed command, if the target did not confirm its end. */
  readonly #unconfirmed: StepRef[] = []
  /** The timeout of the deployment: ends commands, not rollback scripts. */
  readonly #outOfTime = new AbortController()
  /** Ends the waits between attempts. */
  readonly #noMoreAttempts = new AbortController()
  #clearDeadline = () => {}
  /** The first cause for which the run fails. */
  #failure: Failure | null
  #announced: boolean
  #finished = false
  #pausing = false

  constructor(options: RunOptions) {
    const { spec, progress, events, parallelLimit } = options
    this.#options = options
    this.#wording = wordingOf(spec)
    const outOfTime = options.remainingMs !== null && options.remainingMs <= 0
    resolveInterruption({ spec, progress, events, wording: this.#wording, outOfTime })
    this.#failure = progress.firstFailure === null ? null : commandFailed(progress.firstFailure)
    this.#announced = progress.rollbackAnnounced
    this.#schedule = new Schedule(
      {
        targetCount: spec.targets.length,
        actionCount: spec.actions.length,
        hasRollback: (action) => (spec.actions[action]?.rollback_script ?? null) !== null,
        targetMode: spec.options.target_mode,
        failureStrategy: spec.options.failure_strategy,
        rollbackStrategy: spec.options.rollback_strategy,
        parallelLimit,
      },
      progress.ended,
      progress.phase,
    )
  }

  get phase(): string {
    return this.#schedule.phase
  }

  /** How many commands run or wait for their next attempt. */
  get active(): number {
    return this.#active.size
  }

  start(): void {
    const { remainingMs } = this.#options
    if (remainingMs !== null && remainingMs <= 0) this.#runOutOfTime()
    else if (remainingMs !== null) this.#clearDeadline = after(remainingMs, () => this.#runOutOfTime())
    this.#advance()
  }

  /** Starts no more commands. Resolves when the running commands have ended. */
  async pause(): Promise<void> {
    this.#pausing = true
    this.#noMoreAttempts.abort()
    await Promise.all(this.#active)
  }

  /** Kills the commands and reports nothing more. Resolves with the steps whose commands may still run. */
  async kill(kill: Kill): Promise<readonly StepRef[]> {
    this.#clearDeadline()
    this.#killed.abort(kill)
    this.#noMoreAttempts.abort()
    this.#options.events.release()
    await Promise.all(this.#active)
    return this.#unconfirmed
  }

  #advance(): void {
    if (this.#killed.signal.aborted || this.#pausing || this.#finished) return
    const { events } = this.#options
    this.#reportSkipped()
    for (const step of this.#schedule.next()) this.#keep(this.#runStep(step))
    for (const target of this.#schedule.upcoming(MAX_AHEAD)) this.#prepare(target)
    if (this.#schedule.phase === 'rolling_back' && !this.#announced) {
      this.#announced = true
      events.emit({ type: 'rolling_back', at: now() })
      events.emitSystemLine('warning', null, this.#wording.rollbackBegins)
    }
    for (const step of this.#schedule.nextRollbacks()) this.#keep(this.#rollBack(step))
    if (this.#schedule.stopping) this.#noMoreAttempts.abort()
    if (this.#schedule.phase === 'ended') this.#finish()
  }

  /** An unused connection closes by itself. */
  #prepare(target: number): void {
    if (this.#prepared.has(target)) return
    this.#prepared.add(target)
    this.#options.commands.prepare(target, this.#killed.signal)
  }

  #keep(work: Promise<void>): void {
    const kept = work.catch(this.#options.onError).finally(() => this.#active.delete(kept))
    this.#active.add(kept)
  }

  async #runStep(step: StepRef): Promise<void> {
    const { values, progress, events } = this.#options
    const action = values.action(step)
    for (let attempt = progress.nextAttempts.get(keyOf(step)) ?? 0; ; attempt++) {
      // Without space the journal could not record the end of the command.
      await this.#whenDiskHasSpace(this.#outOfTime.signal)
      if (this.#killed.signal.aborted) return
      const started = events.emit({ type: 'step_started', at: now(), ...step, attempt })
      // The connection opens while the bridge commits the start.
      this.#options.commands.prepare(step.target, this.#killed.signal)
      // The command starts only after the bridge has committed `step_started`. If this instance is lost, the next instance
      // must know of the attempt. A cancel before the commit means that the command never starts.
      await this.#unlessKilled(events.committed(started))
      if (this.#killed.signal.aborted) return
      const kills = [this.#killed.signal, this.#outOfTime.signal]
      const result = await this.#options.commands.run(step, 'action', attempt, kills)
      if (this.#killed.signal.aborted) return this.#noteKilled(step, result)
      if (result.failure === null || attempt >= action.max_retries || this.#schedule.stopping) {
        return this.#endStep(step, attempt, result)
      }
      await this.#waitForNextAttempt(step, attempt, result.failure.message)
      if (this.#killed.signal.aborted || this.#pausing) return
      if (this.#schedule.stopping) return this.#endStep(step, attempt, result)
    }
  }

  async #waitForNextAttempt(step: StepRef, attempt: number, error: string): Promise<void> {
    const { events, values } = this.#options
    retries.inc()
    const waitMs = Math.min(MAX_RETRY_WAIT_MS, 1_000 * 2 ** Math.min(attempt, 10))
    const attempts = values.action(step).max_retries + 1
    events.note({ failed_try: [step.target, step.action, attempt] })
    const next = `next attempt (${attempt + 2} of ${attempts}) in ${waitMs / 1_000} s`
    events.emitSystemLine('warning', step, `${this.#wording.place(step)} failed: ${error}; ${next}`)
    await sleep(waitMs, this.#noMoreAttempts.signal)
  }

  /** Does not wait for the journal: each later start waits for its own commit, and events are committed in order. */
  #endStep(step: StepRef, attempt: number, result: AttemptResult): void {
    const { events } = this.#options
    const { failure } = result
    const state = failure === null ? 'completed' : 'failed'
    events.emit({
      type: 'step_ended',
      at: now(),
      ...step,
      attempt,
      state,
      exit_code: result.exitCode,
      error_message: failure?.message ?? null,
      ...failureFields(failure),
      started_at: result.startedAt,
      stdout_tail: result.stdoutTail,
      stderr_tail: result.stderrTail,
    })
    // The bridge needs the result of the command before it applies this line.
    if (failure !== null) {
      this.#failure ??= commandFailed(this.#wording.firstFailure(step, failure.message))
      events.emitSystemLine('error', step, `${this.#wording.place(step)} failed: ${failure.message}`, {
        exit_code: result.exitCode,
      })
    }
    this.#schedule.ended(step, state)
    this.#advance()
  }

  async #rollBack(step: StepRef): Promise<void> {
    const { events, commands } = this.#options
    await this.#whenDiskHasSpace(this.#killed.signal)
    if (this.#killed.signal.aborted) return
    const started = events.emit({ type: 'rollback_started', at: now(), ...step })
    await this.#unlessKilled(events.committed(started))
    if (this.#killed.signal.aborted) return
    const result = await commands.run(step, 'rollback', 0, [this.#killed.signal])
    if (this.#killed.signal.aborted) return this.#noteKilled(step, result)
    const error = result.failure?.message ?? null
    if (error !== null) {
      events.emitSystemLine('error', step, `Rollback of ${this.#wording.place(step)} failed: ${error}`)
    }
    const ok = error === null
    events.emit({ type: 'rollback_ended', at: now(), ...step, ok, error_message: error })
    this.#schedule.rollbackEnded(step, ok)
    this.#advance()
  }

  #noteKilled(step: StepRef, { confirmed }: AttemptResult): void {
    if (!confirmed) this.#unconfirmed.push(step)
  }

  #reportSkipped(): void {
    const skipped = this.#schedule.takeSkipped().map(({ target, action }): [number, number] => [target, action])
    for (let from = 0; from < skipped.length; from += MAX_SKIPPED_IN_EVENT) {
      const steps = skipped.slice(from, from + MAX_SKIPPED_IN_EVENT)
      this.#options.events.emit({ type: 'steps_skipped', at: now(), steps })
    }
  }

  #runOutOfTime(): void {
    if (this.#schedule.phase !== 'running') return
    const reason = deploymentTimedOut(this.#options.spec)
    this.#failure ??= { reason: 'deployment_timeout', error_message: capitalized(reason) }
    this.#schedule.stop(reason)
    this.#outOfTime.abort(new Kill(`killed: ${reason}`, KILL_GRACE_MS, 'deployment_timeout'))
    this.#advance()
  }

  #finish(): void {
    const { events, onFinished } = this.#options
    const outcome = this.#schedule.outcome ?? 'failed'
    const failure = outcome === 'success' ? NO_FAILURE : (this.#failure ?? NOTHING_COMPLETED)
    this.#finished = true
    this.#clearDeadline()
    events.emit({ type: 'finished', at: now(), outcome, ...failure })
    onFinished()
  }

  /** Waits while the disk is full. An abort of the signal or a kill ends the wait. */
  async #whenDiskHasSpace(signal: AbortSignal): Promise<void> {
    const { disk } = this.#options
    if (!disk.isFull) return
    const aborted = whenAborted(AbortSignal.any([signal, this.#killed.signal]))
    await Promise.race([disk.whenFree(), aborted.promise])
    aborted.forget()
  }

  /** Waits for the promise or a kill. Without the kill, a closed journal or a lost bridge would block the run forever. */
  async #unlessKilled(promise: Promise<void>): Promise<void> {
    const killed = whenAborted(this.#killed.signal)
    await Promise.race([promise, killed.promise])
    killed.forget()
  }
}

function now(): string {
  return new Date().toISOString()
}
