import type { Logger } from './logger.ts'
import { TIMED_OUT, withTimeout } from './timing.ts'

interface Step {
  name: string
  fn: () => unknown
  timeoutMs: number
}

const STEP_MS = 10_000

/** The steps of a stop, each with a timeout. The last added step runs first. */
export class StopSequence {
  readonly #steps: Step[] = []
  readonly #logger: Logger

  constructor(logger: Logger) {
    this.#logger = logger
  }

  add(name: string, fn: () => unknown, timeoutMs = STEP_MS): void {
    this.#steps.push({ name, fn, timeoutMs })
  }

  /** Runs all steps within `totalMs`. After a failed or late step, the next step runs. */
  async run(totalMs: number): Promise<void> {
    const end = performance.now() + totalMs
    for (let step = this.#steps.pop(); step; step = this.#steps.pop()) {
      await this.#runStep(step, Math.max(0, Math.min(step.timeoutMs, end - performance.now())))
    }
  }

  async #runStep(step: Step, limitMs: number): Promise<void> {
    const started = performance.now()
    try {
      const result = await withTimeout(limitMs, Promise.resolve().then(step.fn))
      const took = { step: step.name, took_ms: Math.round(performance.now() - started) }
      if (result === TIMED_OUT) this.#logger.warn('a stop step timed out: the next step runs', took)
      else this.#logger.info('stop step done', took)
    } catch (error) {
      this.#logger.error('a stop step failed: the next step runs', { step: step.name, error })
    }
  }
}
