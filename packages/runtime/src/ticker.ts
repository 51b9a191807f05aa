import { withoutContext } from './context.ts'
import type { Logger } from './logger.ts'

export interface Ticker {
  /** Starts a run at once. During a run, schedules one more. */
  kick(): void
  /** Stops the ticker. Resolves when the current run has ended. */
  stop(): Promise<void>
}

interface TickerOptions {
  name: string
  /** Milliseconds from the end of one run to the start of the next. */
  intervalMs: number
  run: () => Promise<unknown> | unknown
  logger: Logger
}

/** The longest wait after a run that failed. */
const RETRY_MS = 1_000

/**
 * Runs `run` at once, then every interval and after each kick; never two at a time. Errors are logged, never thrown. A run that
 * failed is repeated after a second, or after the interval if that is shorter.
 */
export function createTicker(options: TickerOptions): Ticker {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let again = false
  let stopped = false

  /** Returns the wait until the next run. */
  const runOnce = async (): Promise<number> => {
    try {
      // A run belongs to no request, even if a request has triggered the run.
      await withoutContext(options.run)
      return options.intervalMs
    } catch (error) {
      const retryMs = Math.min(RETRY_MS, options.intervalMs)
      options.logger.error(`${options.name} failed; it runs again in ${retryMs} ms`, { error })
      return retryMs
    }
  }
  const start = () => {
    clearTimeout(timer)
    again = false
    running = runOnce().then((waitMs) => {
      running = undefined
      if (stopped) return
      schedule(again ? 0 : waitMs)
    })
  }
  const schedule = (ms: number) => {
    clearTimeout(timer)
    timer = setTimeout(start, ms)
  }

  schedule(0)
  return {
    kick() {
      if (stopped) return
      if (running !== undefined) again = true
      else schedule(0)
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
