/** Runs a limited number of tasks at a time. Tasks of low priority run after all others. */
export class Turnstile {
  #free: number
  readonly #waiting: (() => void)[] = []
  readonly #patient: (() => void)[] = []

  constructor(places: number) {
    this.#free = places
  }

  async pass<T>(task: () => Promise<T>, { canWait = false } = {}): Promise<T> {
    const queue = canWait ? this.#patient : this.#waiting
    if (this.#free > 0) this.#free -= 1
    else await new Promise<void>((resolve) => queue.push(resolve))
    try {
      return await task()
    } finally {
      const next = this.#waiting.shift() ?? this.#patient.shift()
      if (next) next()
      else this.#free += 1
    }
  }
}
