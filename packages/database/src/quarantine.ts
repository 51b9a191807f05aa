import { counter, type Logger } from '@slipway/runtime'
import { isUnavailable } from './failures.ts'

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 300_000
/** The most rows that are remembered. Above that, the oldest row is retried early. */
const MAX_HELD = 10_000

const rowFailures = counter(
  'slipway_row_failures_total',
  'Rows that a periodic task could not process. The others went on, and each is tried again with backoff',
  ['task'],
)

/** Counts a row that a task could not process. For tasks that retry by columns of the row; others use a Quarantine. */
export const countRowFailure = (task: string): void => rowFailures.inc({ task })

interface HeldRow {
  failures: number
  until: number
}

interface QuarantineOptions {
  /** The name of the task in logs and metrics. */
  task: string
  logger: Logger
  /** Milliseconds. Tests replace it. */
  now?: () => number
}

/**
 * Keeps a row that a periodic task cannot process from blocking the other rows. A failed row is logged, counted, and skipped
 * until its backoff is over: 1 s, doubling up to 5 min. Each process has its own quarantine in memory.
 */
export class Quarantine {
  readonly #options: QuarantineOptions
  readonly #held = new Map<string, HeldRow>()

  constructor(options: QuarantineOptions) {
    this.#options = options
  }

  /** Keys of the rows in backoff. A task must exclude them from its query, or they would fill every batch. */
  get held(): string[] {
    const now = this.#now()
    return [...this.#held].flatMap(([key, { until }]) => (until > now ? [key] : []))
  }

  /** Processes each row alone and returns the results that succeeded. Throws if the database cannot be reached. */
  async each<R, T>(rows: readonly R[], keyOf: (row: R) => string, work: (row: R) => Promise<T>): Promise<T[]> {
    const results: T[] = []
    const held = new Set(this.held)
    for (const row of rows) {
      const key = keyOf(row)
      if (held.has(key)) continue
      try {
        results.push(await work(row))
        this.release(key)
      } catch (error) {
        if (isUnavailable(error)) throw error
        this.hold(key, error)
      }
    }
    return results
  }

  /** Processes all rows at once. If that fails, processes each row alone. Throws if the database cannot be reached. */
  async together<R, T>(
    rows: readonly R[],
    keyOf: (row: R) => string,
    work: (rows: readonly R[]) => Promise<T>,
  ): Promise<T[]> {
    const held = new Set(this.held)
    const free = rows.filter((row) => !held.has(keyOf(row)))
    if (free.length > 1) {
      try {
        const result = await work(free)
        for (const row of free) this.release(keyOf(row))
        return [result]
      } catch (error) {
        if (isUnavailable(error)) throw error
      }
    }
    return this.each(free, keyOf, (row) => work([row]))
  }

  /**
   * Skips the row for the returned number of milliseconds. Without `error`, the caller logs the reason for many rows at once.
   */
  hold(key: string, error?: unknown): number {
    const failures = (this.#held.get(key)?.failures ?? 0) + 1
    const wait = Math.min(FIRST_WAIT_MS * 2 ** (failures - 1), LONGEST_WAIT_MS)
    this.#held.delete(key)
    const [oldest] = this.#held.keys()
    if (oldest !== undefined && this.#held.size >= MAX_HELD) this.#held.delete(oldest)
    this.#held.set(key, { failures, until: this.#now() + wait })
    const { task, logger } = this.#options
    countRowFailure(task)
    if (error !== undefined) {
      const facts = { task, row: key, failures, retry_in_ms: wait, error }
      logger.error('a row could not be processed and is retried later; other rows are not affected', facts)
    }
    return wait
  }

  /** Forgets the failures of a row, because it was processed. */
  release(key: string): void {
    this.#held.delete(key)
  }

  #now(): number {
    return this.#options.now?.() ?? performance.now()
  }
}
