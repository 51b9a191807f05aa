import type { FailureStrategy, RollbackStrategy, TargetMode } from './plan-schema.ts'
import { Turns } from './turns.ts'

export interface SchedulePlan {
  targetCount: number
  actionCount: number
  hasRollback: (action: number) => boolean
  targetMode: TargetMode
  failureStrategy: FailureStrategy
  rollbackStrategy: RollbackStrategy
  /** How many targets the instance works on at once, at most; each runs one command at a time. */
  parallelLimit: number
}

export interface StepRef {
  target: number
  action: number
}

export type EndedState = 'completed' | 'failed' | 'skipped' | 'cancelled' | 'rolled_back' | 'rollback_failed'
export type EndedStep = StepRef & { state: EndedState }
export type SchedulePhase = 'running' | 'rolling_back' | 'ended'
export type ScheduleOutcome = 'success' | 'failed' | 'rolled_back'

type State = EndedState | 'pending' | 'running' | 'rolling_back'

/**
 * Decides which commands of a plan may start when. The driver starts what `next` (then `nextRollbacks`) hands out,
 * reports each end and asks again, until the phase is `ended`. Starts nothing itself and knows no clock: the same
 * events give the same answers.
 *
 *     running → ended                  every step ended: success, or failed where nothing is to be rolled back
 *     running → rolling_back → ended   every step ended, would fail, and has a rollback strategy: rolled_back or failed
 */
export class Schedule {
  readonly #plan: SchedulePlan
  readonly #states: State[]
  /** The action each target stands at: forwards while running, backwards while rolling back. */
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
   * `ended` and `phase` take up a run that another instance lost. A step that was running then is listed as failed when
   * it may not be tried again, else left out and handed out anew. In the phase `rolling_back` a step whose rollback was
   * running is listed as `rollback_failed`, or as it was before to have the rollback handed out anew.
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

  /** Whether nothing new may start any more, including further attempts of a failed command. */
  get stopping(): boolean {
    return this.#stopping
  }

  /** What `stop` was called for, or null. */
  get stopReason(): string | null {
    return this.#stopReason
  }

  /** Commands that may start now: each is handed out once and counts as started. */
  next(): StepRef[] {
    if (this.#phase !== 'running' || this.#stopping) return []
    return this.#handOut('running', (target) => this.#advance(target))
  }

  /** Targets on which commands will start next, at most `count`, if nothing keeps them from it. */
  upcoming(count: number): readonly number[] {
    return this.#phase === 'running' && !this.#stopping ? this.#turns.upcoming(count) : []
  }

  /** Rollback scripts that may start now, each once. Ends the phase where nothing has to be undone. */
  nextRollbacks(): StepRef[] {
    if (this.#phase !== 'rolling_back') return []
    if (this.#toUndo === 0) this.#end(this.#rollbackFailed ? 'failed' : 'rolled_back')
    return this.#handOut('rolling_back', (target) => this.#retreat(target))
  }

  /** A command has ended, after its last attempt. */
  ended(step: StepRef, result: 'completed' | 'failed'): void {
    this.#expect(step, 'running')
    this.#count(step, result)
    if (result === 'failed' && this.#plan.failureStrategy !== 'ignore_failures') this.#skipRest(step.target)
    if (result === 'failed' && this.#plan.failureStrategy === 'stop_on_first_failure') this.#skipPending()
    this.#moveOn(step.target, this.#advance(step.target))
    this.#settle()
  }

  /** A rollback script has ended. One that failed does not keep the others from running. */
  rollbackEnded(step: StepRef, ok: boolean): void {
    this.#expect(step, 'rolling_back')
    this.#set(step, ok ? 'rolled_back' : 'rollback_failed')
    if (!ok) this.#rollbackFailed = true
    this.#toUndo -= 1
    this.#moveOn(step.target, this.#retreat(step.target))
    if (this.#toUndo === 0) this.#end(this.#rollbackFailed ? 'failed' : 'rolled_back')
  }

  /**
   * The deployment ran out of its time: nothing new starts and it fails, whatever its strategy. The driver kills what
   * runs and reports it as failed. A rollback that has begun is not touched: the time limit does not count there.
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

  /** A target that has work left waits for the next hand-out, one that has none gives its turn to another. */
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

  /** Moves the target's cursor to its next step that is wanted; false when there is none. */
  #seek(target: number, direction: 1 | -1, wanted: (step: StepRef) => boolean): boolean {
    let action = this.#cursors[target] ?? 0
    while (action >= 0 && action < this.#plan.actionCount && !wanted({ target, action })) action += direction
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

  /** Once every step has ended: is that the end, or is there a rollback? */
  #settle(): void {
    if (this.#unended > 0 || this.#phase !== 'running') return
    const failures = this.#plan.failureStrategy === 'ignore_failures' ? 0 : this.#failed
    if (this.#stopReason === null && this.#completed > 0 && failures === 0) this.#end('success')
    else if (this.#plan.rollbackStrategy === 'none') this.#end('failed')
    else this.#beginRollback()
  }

  /** Targets are rolled back last first, as their actions are: the one that failed in a sequential run begins. */
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
    // On a target that an earlier instance began to roll back, its strategy has been answered already.
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

  /** Draws from the restored steps the consequences that the lost instance drew or was about to draw. */
  #resumeStopping(): void {
    const { failureStrategy, targetCount } = this.#plan
    let unexplained = false
    for (let target = 0; target < targetCount; target++) {
      const states = this.#row(target).map((step) => this.#stateOf(step))
      if (failureStrategy !== 'ignore_failures' && states.includes('failed')) this.#skipRest(target)
      else unexplained ||= states.includes('skipped') || states.includes('cancelled')
    }
    if (this.#failed > 0 && failureStrategy === 'stop_on_first_failure') this.#skipPending()
    // Without a failure that accounts for it, only `stop` skips a step.
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
