import { after } from '@slipway/execution'

const MIN_EXTENSION_MS = 250

/** Counts the time that a command may take, without the time for which it is excused. */
export class CommandClock {
  readonly #limitMs: number
  readonly #excusedMs: () => number
  readonly #onOver: () => void
  #excusedBefore = 0
  #callOff = () => {}

  /** `excusedMs` only grows: all time so far that does not count. */
  constructor(limitMs: number, excusedMs: () => number, onOver: () => void) {
    this.#limitMs = limitMs
    this.#excusedMs = excusedMs
    this.#onOver = onOver
  }

  /** The command began and has not been stopped. */
  isRunning = false

  start(): void {
    this.isRunning = true
    this.#excusedBefore = this.#excusedMs()
    this.#wait(this.#limitMs)
  }

  stop(): void {
    this.isRunning = false
    this.#callOff()
  }

  #wait(ms: number): void {
    this.#callOff = after(ms, () => {
      const excused = this.#excusedMs() - this.#excusedBefore
      this.#excusedBefore += excused
      if (excused > 0) this.#wait(Math.max(MIN_EXTENSION_MS, excused))
      else this.#onOver()
    })
  }
}
