import type { FailureStrategy, RollbackStrategy, TargetMode } from './plan-schema.ts'
import { Turns } from './turns.ts'

export interface SchedulePlan {
  targetCount: number
  actionCount: number
  hasRollback: (action: number) => boolean
  targetMode: TargetMode
  failureStrategy: FailureStrategy
  rollbackStrategy: RollbackStrategy
  /** The most targets on which the instance works at the same time. Each target runs one command at a time. */
  parallelLimit: number
}

export interface StepRef {
  target: number
  action: number
}

type EndedState = 'completed' | 'failed' | 'skipped' | 'cancelled' | 'rolled_back' | 'rollback_failed'
export type EndedStep = StepRef & { state: EndedState }
type SchedulePhase = 'running' | 'rolling_back' | 'ended'
type ScheduleOutcome = 'success' | 'failed' | 'rolled_back'

type State = EndedState | 'pending' | 'running' | 'rolling_back'

/**
 * Decides which commands of a plan may start. The driver starts the commands that `next` (then `nextRollbacks`) returns,
 * reports the end of each, and calls again until the phase is `ended`. A schedule starts nothing itself and reads no clock: the
 * same events always give the same commands.
 *
 *     running → ended                  every step ended: success, or failed without anything to roll back
 *     running → rolling_back → ended   every step ended, at least one failed, and there is a rollback: rolled_back or failed
 */
export class Schedule {
  readonly #plan: SchedulePlan
  readonly #states: State[]
  /** The action that each target has reached: in order while running, in reverse order while rolling back. */
  readonly #cursors: number[]
  #turns: Turns
  #ready: number[] = []
  #skipped: StepRef[] = []
  #phase: SchedulePhase = 'running'
  #outcome: ScheduleOutcome | null = null
  #stopping = false
  #stopReason: string | null = null
  /** Steps whose command has not ended. */
  #unended: number
  #completed = 0
  #failed = 0
  /** Steps whose rollback has not ended. */
  #toUndo = 0
  #rollbackFailed = false

  /**
   * `ended` and `phase` restore a run that another instance lost. A step that was running then is listed as failed if no
   * attempt is left. Otherwise it is not listed, and `next` returns it again. In the phase `rolling_back`, a step whose
   * rollback was running is listed as `rollback_failed`, or with its earlier state if the rollback is to run again.
   */
  constructor(plan: SchedulePlan, ended: Iterable<EndedStep> = [], phase: 'running' | 'rolling_back' = 'running') {
    this.#plan = plan
    this.#unended = plan.targetCount * plan.actionCount
    this.#states = new Array<State>(this.#unended).fill('pending')
    this.#cursors = new Array<number>(plan.targetCount).fill(0)
    this.#turns = new Turns([...this.#cursors.keys()], batchSizeOf(plan), plan.parallelLimit)
    for (const step of ended) this.#restore(step)
    if (phase === 'running') {
      this.#resumeStopping()
      this.#settle()
    } else {
      this.#skipPending()
      this.#beginRollback()
    }
  }

  get phase(): SchedulePhase {
    return this.#phase
  }

  /** How the deployment ends; null until the phase is `ended`. */
  get outcome(): ScheduleOutcome | null {
    return this.#outcome
  }

  /** Whether no command starts any more. Further attempts of a failed command do not start either. */
  get stopping(): boolean {
    return this.#stopping
  }

  /** The reason that `stop` received, or null. */
  get stopReason(): string | null {
    return this.#stopReason
  }

  /** Commands that may start now. Each is returned once and counts as started. */
  next(): StepRef[] {
    if (this.#phase !== 'running' || this.#stopping) return []
    return this.#handOut('running', (target) => this.#advance(target))
  }

  /** At most `count` targets on which the next commands start, unless the run stops. */
  upcoming(count: number): readonly number[] {
    return this.#phase === 'running' && !this.#stopping ? this.#turns.upcoming(count) : []
  }

  /** Rollback scripts that may start now, each once. Ends the phase if no step needs a rollback. */
  nextRollbacks(): StepRef[] {
    if (this.#phase !== 'rolling_back') return []
    if (this.#toUndo === 0) this.#end(this.#rollbackFailed ? 'failed' : 'rolled_back')
    return this.#handOut('rolling_back', (target) => this.#retreat(target))
  }

  /** Notes that a command has ended, after its last attempt. */
  ended(step: StepRef, result: 'completed' | 'failed'): void {
    this.#expect(step, 'running')
    this.#count(step, result)
    if (result === 'failed' && this.#plan.failureStrategy !== 'ignore_failures') this.#skipRest(step.target)
    if (result === 'failed' && this.#plan.failureStrategy === 'stop_on_first_failure') this.#skipPending()
    this.#moveOn(step.target, this.#advance(step.target))
    this.#settle()
  }

  /** Notes that a rollback script has ended. After a failed one the others still run. */
  rollbackEnded(step: StepRef, ok: boolean): void {
    this.#expect(step, 'rolling_back')
    this.#set(step, ok ? 'rolled_back' : 'rollback_failed')
    if (!ok) this.#rollbackFailed = true
    this.#toUndo -= 1
    this.#moveOn(step.target, this.#retreat(step.target))
    if (this.#toUndo === 0) this.#end(this.#rollbackFailed ? 'failed' : 'rolled_back')
  }

  /**
   * Fails the deployment because its time is over: no further command starts, whatever the strategy. The driver kills the
   * running commands and reports them as failed. A rollback in progress continues, because the time limit does not count for
   * it.
   */
  stop(reason: string): void {
    if (this.#phase !== 'running') return
    this.#stopReason ??= reason
    this.#skipPending()
    this.#settle()
  }

  /** Steps that became skipped since the last call. */
  takeSkipped(): StepRef[] {
    return this.#skipped.splice(0)
  }

  #handOut(state: 'running' | 'rolling_back', seek: (target: number) => boolean): StepRef[] {
    for (let target = this.#turns.take(); target !== undefined; target = this.#turns.take()) {
      this.#moveOn(target, seek(target))
    }
    return this.#ready.splice(0).map((target) => {
      const step = { target, action: this.#cursors[target] ?? 0 }
      this.#set(step, state)
      return step
    })
  }

  /** A target with work left queues for its next command. Without work left, its turn goes to another target. */
  #moveOn(target: number, hasWork: boolean): void {
    if (hasWork) this.#ready.push(target)
    else this.#turns.leave()
  }

  #advance(target: number): boolean {
    return this.#seek(target, 1, (step) => this.#stateOf(step) === 'pending')
  }

  #retreat(target: number): boolean {
    return this.#seek(target, -1, (step) => this.#isToUndo(step))
  }

  /** Moves the target to its next step that `isCandidate` accepts. Returns false if there is none. */
  #seek(target: number, direction: 1 | -1, isCandidate: (step: StepRef) => boolean): boolean {
    let action = this.#cursors[target] ?? 0
    while (action >= 0 && action < this.#plan.actionCount && !isCandidate({ target, action })) action += direction
    this.#cursors[target] = action
    return action >= 0 && action < this.#plan.actionCount
  }

  #skipRest(target: number): void {
    for (let action = this.#cursors[target] ?? 0; action < this.#plan.actionCount; action++) {
      if (this.#stateOf({ target, action }) !== 'pending') continue
      this.#set({ target, action }, 'skipped')
      this.#skipped.push({ target, action })
      this.#unended -= 1
    }
  }

  #skipPending(): void {
    if (this.#stopping) return
    this.#stopping = true
    this.#ready = []
    for (let target = 0; target < this.#plan.targetCount; target++) this.#skipRest(target)
  }

  /** Once every step has ended: ends the phase, or begins the rollback. */
  #settle(): void {
    if (this.#unended > 0 || this.#phase !== 'running') return
    const failures = this.#plan.failureStrategy === 'ignore_failures' ? 0 : this.#failed
    if (this.#stopReason === null && this.#completed > 0 && failures === 0) this.#end('success')
    else if (this.#plan.rollbackStrategy === 'none') this.#end('failed')
    else this.#beginRollback()
  }

  /**
   * Targets are rolled back in reverse order, as their actions are. In a sequential run the failed target is therefore first.
   */
  #beginRollback(): void {
    const { actionCount, parallelLimit } = this.#plan
    this.#phase = 'rolling_back'
    this.#cursors.fill(actionCount - 1)
    const targets = [...this.#cursors.keys()].filter((target) => this.#isRolledBack(target)).reverse()
    for (const target of targets) for (const step of this.#row(target)) if (this.#isToUndo(step)) this.#toUndo += 1
    this.#ready = []
    this.#turns = new Turns(targets, batchSizeOf(this.#plan), parallelLimit)
  }

  #isRolledBack(target: number): boolean {
    const states = this.#row(target).map((step) => this.#stateOf(step))
    // An earlier instance began to roll back this target, so the strategy has already allowed the rollback.
    if (states.includes('failed') || states.includes('rolled_back') || states.includes('rollback_failed')) return true
    return this.#plan.rollbackStrategy === 'all_executed' && states.includes('completed')
  }

  #isToUndo(step: StepRef): boolean {
    const state = this.#stateOf(step)
    return (state === 'completed' || state === 'failed') && this.#plan.hasRollback(step.action)
  }

  #end(outcome: ScheduleOutcome): void {
    this.#phase = 'ended'
    this.#outcome = outcome
  }

  #restore({ target, action, state }: EndedStep): void {
    this.#expect({ target, action }, 'pending')
    this.#count({ target, action }, state)
    if (state === 'rollback_failed') this.#rollbackFailed = true
  }

  /** Stops the restored schedule if its steps show that the lost instance stopped, or was about to stop. */
  #resumeStopping(): void {
    const { failureStrategy, targetCount } = this.#plan
    let unexplained = false
    for (let target = 0; target < targetCount; target++) {
      const states = this.#row(target).map((step) => this.#stateOf(step))
      if (failureStrategy !== 'ignore_failures' && states.includes('failed')) this.#skipRest(target)
      else unexplained ||= states.includes('skipped') || states.includes('cancelled')
    }
    if (this.#failed > 0 && failureStrategy === 'stop_on_first_failure') this.#skipPending()
    // No failure explains these skipped steps, so `stop` skipped them.
    else if (unexplained) this.stop('The deployment was stopped before its instance was lost')
  }

  #count(step: StepRef, state: EndedState): void {
    this.#set(step, state)
    this.#unended -= 1
    if (state === 'completed') this.#completed += 1
    if (state === 'failed') this.#failed += 1
  }

  #row(target: number): StepRef[] {
    return Array.from({ length: this.#plan.actionCount }, (_, action) => ({ target, action }))
  }

  #stateOf({ target, action }: StepRef): State | undefined {
    return this.#states[target * this.#plan.actionCount + action]
  }

  #set({ target, action }: StepRef, state: State): void {
    this.#states[target * this.#plan.actionCount + action] = state
  }

  #expect(step: StepRef, state: State): void {
    const inPlan = step.action >= 0 && step.action < this.#plan.actionCount
    const actual = inPlan ? this.#stateOf(step) : undefined
    if (actual === state) return
    throw new Error(`Step ${step.target}/${step.action} is ${actual ?? 'not in the plan'}, expected ${state}`)
  }
}

function batchSizeOf({ targetMode, targetCount }: SchedulePlan): number {
  if (targetMode === 'sequential') return 1
  return targetMode === 'parallel' ? Math.max(targetCount, 1) : targetMode.rolling.batch_size
}
