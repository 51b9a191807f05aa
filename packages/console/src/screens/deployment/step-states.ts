import { Changes } from './changes.ts'

/** Every redraw looks at the states of all steps, of which there may be 200,000. */
const TELL_EVERY_MS = 250

/** The states that the live stream told since the plan was read, by step. */
export class StepStates {
  readonly changes = new Changes(TELL_EVERY_MS)
  readonly #states = new Map<string, string>()

  get(step: string): string | undefined {
    return this.#states.get(step)
  }

  set(step: string, state: string): void {
    this.#states.set(step, state)
    this.changes.tell()
  }
}
