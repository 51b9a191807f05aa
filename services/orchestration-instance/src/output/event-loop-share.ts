/** The time that long work may hold the event loop in one turn, so that other work, such as heartbeats, goes on. */
const TURN_MS = 5

/**
 * Work that takes long does its parts here. However many commands print at once, all parts together take about `TURN_MS` of
 * each turn of the event loop. Each part must be short, or look at its deadline.
 */
export class EventLoopShare {
  #usedMs = 0
  #nextTurn: Promise<void> | null = null

  /** Does the part at once if this turn has time left, and otherwise in a later turn. The part may use the time until `deadline`. */
  async run<T>(part: (deadline: number) => T): Promise<T> {
    while (this.#usedMs >= TURN_MS) await this.#whenNextTurn()
    const began = performance.now()
    try {
      return part(began + TURN_MS - this.#usedMs)
    } finally {
      this.#usedMs += performance.now() - began
      void this.#whenNextTurn()
    }
  }

  /** Takes the steps between the `yield`s of a generator as parts. */
  async finish<T>(steps: Iterator<void, T>): Promise<T> {
    for (;;) {
      const step = await this.run(() => steps.next())
      if (step.done) return step.value
    }
  }

  #whenNextTurn(): Promise<void> {
    this.#nextTurn ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#nextTurn = null
        this.#usedMs = 0
        resolve()
      })
    })
    return this.#nextTurn
  }
}

/** The share of all masking in this process. */
export const maskingShare = new EventLoopShare()
