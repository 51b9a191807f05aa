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

/** Too many tasks of the key wait. */
export class LineFull extends Error {
  override name = 'LineFull'
}

/** The turn of a task did not come in time. */
export class NoTurn extends Error {
  override name = 'NoTurn'
}

interface FairSemaphoreOptions {
  /** The most tasks at a time. */
  limit: number
  /** The most tasks of one key at a time. */
  perKey: number
  /** The most tasks of one key that wait. */
  maxWaiting: number
}

interface Line {
  running: number
  readonly waiting: (() => void)[]
}

/** Runs a limited number of tasks at a time, in all and of each key, such as a tenant. Keys with waiting tasks take turns. */
export class FairSemaphore {
  readonly #options: FairSemaphoreOptions
  #free: number
  /** The keys with tasks. The first one has the next turn. */
  readonly #lines = new Map<string, Line>()

  constructor(options: FairSemaphoreOptions) {
    this.#options = options
    this.#free = options.limit
  }

  /**
   * `until`: when a task that still waits gives up, by performance.now().
   * @throws LineFull, NoTurn
   */
  async run<T>(key: string, task: () => Promise<T>, { until }: { until?: number } = {}): Promise<T> {
    const line = this.#lines.get(key) ?? { running: 0, waiting: [] }
    if (this.#mayStart(line)) this.#start(key, line)
    else await this.#turnOf(key, line, until)
    try {
      return await task()
    } finally {
      line.running -= 1
      this.#free += 1
      if (line.running === 0 && line.waiting.length === 0) this.#lines.delete(key)
      this.#startNext()
    }
  }

  #mayStart({ running }: Line): boolean {
    return this.#free > 0 && running < this.#options.perKey
  }

  #start(key: string, line: Line): void {
    line.running += 1
    this.#free -= 1
    this.#lines.delete(key)
    this.#lines.set(key, line)
  }

  #turnOf(key: string, line: Line, until: number | undefined): Promise<void> {
    const { maxWaiting } = this.#options
    if (line.waiting.length >= maxWaiting) throw new LineFull(`${maxWaiting} tasks wait already`)
    this.#lines.set(key, line)
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        line.waiting.splice(line.waiting.indexOf(begin), 1)
        if (line.running === 0 && line.waiting.length === 0) this.#lines.delete(key)
        reject(new NoTurn('other tasks took too long'))
      }
      const timer = until === undefined ? undefined : setTimeout(giveUp, Math.max(0, until - performance.now()))
      const begin = () => {
        clearTimeout(timer)
        resolve()
      }
      line.waiting.push(begin)
    })
  }

  #startNext(): void {
    // A key that starts a task moves to the end, and the loop reaches it again after the others.
    for (const [key, line] of this.#lines) {
      if (this.#free === 0) return
      if (!this.#mayStart(line)) continue
      const next = line.waiting.shift()
      if (!next) continue
      this.#start(key, line)
      next()
    }
  }
}
