import type { StreamBatch } from '@slipway/contracts'
import { type DeploymentState, isFinalDeploymentState } from '@slipway/domain'
import type { Snapshot, StepRow, Transition } from '../deployments/queries.ts'

/** A step that is not pending, and the number of the hub's change in which it last changed. */
export interface StepRecord extends StepRow {
  seq: number
}

/** What changed in one step of the known state. */
export interface Changes {
  steps: StepRecord[]
  progress: boolean
}

/**
 * The known state of a deployment up to an event. It advances by batches that continue it exactly, or by a snapshot. It never
 * goes back.
 */
export class KnownState {
  epoch = 0
  nextEvent = 0
  nextLine = 0
  totalSteps = 0
  endedSteps = 0
  completedSteps = 0
  state: DeploymentState = 'pending'
  transitions: Transition[] = []
  /** The key is target × actions + action. */
  readonly steps = new Map<number, StepRecord>()
  readonly #actionCount: number

  constructor(actionCount: number) {
    this.#actionCount = actionCount
  }

  get isFinal(): boolean {
    return isFinalDeploymentState(this.state)
  }

  /** The state changes before the final one. They can be sent while more lines may come. */
  get openTransitions(): Transition[] {
    return this.transitions.filter(({ to_state }) => !isFinalDeploymentState(to_state))
  }

  get progress(): number {
    if (this.isFinal) return 1
    return this.totalSteps === 0 ? 0 : this.endedSteps / this.totalSteps
  }

  /** Compares a batch with the known state: by events, and by lines at the beginning of an epoch. */
  compare(batch: StreamBatch): 'next' | 'repeated' | 'gap' {
    if (batch.epoch < this.epoch) return 'repeated'
    if (batch.epoch > this.epoch) return 'gap'
    if (batch.next_event <= this.nextEvent) return 'repeated'
    return batch.first_event === this.nextEvent && batch.first_line === this.nextLine ? 'next' : 'gap'
  }

  takeBatch(batch: StreamBatch, seq: number): Changes {
    this.nextEvent = batch.next_event
    this.nextLine = batch.first_line + batch.lines.length
    const steps = batch.steps.map((step) => this.#takeStep(step, seq)).filter((step) => step !== null)
    return { steps, progress: this.#count(batch) }
  }

  takeSnapshot(snapshot: Snapshot, seq: number): Changes {
    this.epoch = snapshot.epoch
    this.nextEvent = snapshot.next_event
    this.nextLine = snapshot.next_line
    this.totalSteps = snapshot.total_steps
    this.state = snapshot.state
    this.transitions = snapshot.transitions
    const steps = snapshot.steps.map((step) => this.#takeStep(step, seq)).filter((step) => step !== null)
    return { steps: [...steps, ...this.#backToPending(snapshot.steps, seq)], progress: this.#count(snapshot) }
  }

  /** Whether the step differs from the one that clients have. A repeated state is no change. */
  isNews({ target, action, state, exit_code, error_message }: StepRow): boolean {
    const known = this.steps.get(target * this.#actionCount + action)
    return known?.state !== state || known.exit_code !== exit_code || known.error_message !== error_message
  }

  #takeStep(step: StepRow, seq: number): StepRecord | null {
    if (!this.isNews(step)) return null
    const { target, action, state, exit_code, error_message } = step
    const record = { target, action, state, exit_code, error_message, seq }
    this.steps.set(target * this.#actionCount + action, record)
    return record
  }

  /** Steps with an attempt that was lost with its instance. The attempt is repeated. */
  #backToPending(rows: readonly StepRow[], seq: number): StepRecord[] {
    if (rows.length === this.steps.size) return []
    const touched = new Set(rows.map(({ target, action }) => target * this.#actionCount + action))
    const changed: StepRecord[] = []
    for (const [key, step] of this.steps) {
      if (touched.has(key) || step.state === 'pending') continue
      const record: StepRecord = { ...step, state: 'pending', seq }
      this.steps.set(key, record)
      changed.push(record)
    }
    return changed
  }

  #count({ ended_steps, completed_steps }: { ended_steps: number; completed_steps: number }): boolean {
    const ended = Math.max(this.endedSteps, ended_steps)
    const changed = ended !== this.endedSteps || completed_steps !== this.completedSteps
    this.endedSteps = ended
    this.completedSteps = completed_steps
    return changed
  }
}
