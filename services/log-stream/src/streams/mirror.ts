import type { StreamBatch } from '@slipway/contracts'
import { type DeploymentState, isFinalDeploymentState } from '@slipway/domain'
import type { Snapshot, StepRow, Transition } from '../deployments/queries.ts'

/** A step that has left pending, and the change of the hub in which it last changed. */
export interface StepRecord extends StepRow {
  seq: number
}

/** What changed in one go. */
export interface Changes {
  steps: StepRecord[]
  progress: boolean
}

/**
 * What is known of a deployment, and up to which event. It moves on by batches that continue it exactly, or by a snapshot
 * of the database; never back.
 */
export class Mirror {
  epoch = 0
  nextEvent = 0
  nextLine = 0
  totalSteps = 0
  endedSteps = 0
  completedSteps = 0
  state: DeploymentState = 'pending'
  transitions: Transition[] = []
  /** By target × actions + action. */
  readonly steps = new Map<number, StepRecord>()
  readonly #actionCount: number

  constructor(actionCount: number) {
    this.#actionCount = actionCount
  }

  get isFinal(): boolean {
    return isFinalDeploymentState(this.state)
  }

  /** The states before the final one: what can be told while there is more to come. */
  get openTransitions(): Transition[] {
    return this.transitions.filter(({ to_state }) => !isFinalDeploymentState(to_state))
  }

  get progress(): number {
    if (this.isFinal) return 1
    return this.totalSteps === 0 ? 0 : this.endedSteps / this.totalSteps
  }

  /** How a batch stands to what is known. By events, and by lines where an epoch begins. */
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

  /** Whether a step is not as it was told: steps are told by their state, not by how often it is said. */
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

  /** Steps whose attempt was lost with its instance and is to be made again. */
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
