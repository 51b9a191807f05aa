/** Runs a limited number of tasks at a time. Tasks of low priority run after all others. */
export class Semaphore {
  #free: number
  readonly #waiting: (() => void)[] = []
  readonly #waitingLowPriority: (() => void)[] = []

  constructor(limit: number) {
    this.#free = limit
  }

  async run<T>(task: () => Promise<T>, { lowPriority = false } = {}): Promise<T> {
    const queue = lowPriority ? this.#waitingLowPriority : this.#waiting
    if (this.#free > 0) this.#free -= 1
    else await new Promise<void>((resolve) => queue.push(resolve))
    try {
      return await task()
    } finally {
      const next = this.#waiting.shift() ?? this.#waitingLowPriority.shift()
      if (next) next()
      else this.#free += 1
    }
  }
}
