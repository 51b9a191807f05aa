import { after } from '@slipway/runtime'

const MIN_EXTENSION_MS = 250

/** The timeout of one command. Excused time, such as a full disk of the instance, does not count. */
export class CommandClock {
  readonly #limitMs: number
  readonly #excusedMs: () => number
  readonly #onTimeout: () => void
  #excusedBefore = 0
  #clearTimer = () => {}

  /** `excusedMs` returns the total of the excused time so far. */
  constructor(limitMs: number, excusedMs: () => number, onTimeout: () => void) {
    this.#limitMs = limitMs
    this.#excusedMs = excusedMs
    this.#onTimeout = onTimeout
  }

  isRunning = false

  start(): void {
    this.isRunning = true
    this.#excusedBefore = this.#excusedMs()
    this.#wait(this.#limitMs)
  }

  stop(): void {
    this.isRunning = false
    this.#clearTimer()
  }

  #wait(ms: number): void {
    this.#clearTimer = after(ms, () => {
      const excused = this.#excusedMs() - this.#excusedBefore
      this.#excusedBefore += excused
      if (excused > 0) this.#wait(Math.max(MIN_EXTENSION_MS, excused))
      else this.#onTimeout()
    })
  }
}
