import { Worker } from 'node:worker_threads'
import type { Envelope } from '@slipway/contracts'
import { type Outcome, refusal, tooLarge } from '../planning/outcome.ts'
import type { FromThread, ThreadSettings } from './messages.ts'

/** A plan that needs more ends the thread, not the process. */
const MAX_HEAP_MIB = 512
/** A plan is garbage as soon as it is sent. In the young generation the garbage collector never copies it. */
const YOUNG_HEAP_MIB = 96

/** Makes large plans in a thread, one at a time, so that they neither block the event loop nor fill the heap of the process. */
export class PlanningThread {
  readonly #settings: ThreadSettings
  /** Started for the first large plan, because most planners never get one. */
  #worker: Worker | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(settings: ThreadSettings) {
    this.#settings = settings
  }

  /** Throws if planning failed for a temporary reason. */
  outcomeOf(envelope: Envelope): Promise<Outcome> {
    const outcome = this.#last.then(() => this.#plan(envelope))
    this.#last = outcome.catch(() => {})
    return outcome
  }

  async close(): Promise<void> {
    await this.#last
    await this.#worker?.terminate()
  }

  #plan(envelope: Envelope): Promise<Outcome> {
    const worker = this.#running()
    return new Promise((resolve, reject) => {
      const settle = (fn: () => void) => {
        worker.off('message', onMessage).off('error', onError).off('exit', onExit)
        fn()
      }
      const onMessage = (told: FromThread) =>
        settle(() => ('outcome' in told ? resolve(told.outcome) : reject(new Error(told.failure))))
      const onError = (error: Error & { code?: unknown }) =>
        settle(() => (error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? resolve(refusal(tooLarge())) : reject(error)))
      const onExit = () => settle(() => reject(new Error('the planning thread ended')))
      worker.on('message', onMessage).on('error', onError).on('exit', onExit)
      worker.postMessage(envelope)
    })
  }

  #running(): Worker {
    if (this.#worker) return this.#worker
    const worker = new Worker(new URL('./thread.js', import.meta.url), {
      workerData: this.#settings,
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB, maxYoungGenerationSizeMb: YOUNG_HEAP_MIB },
    })
    // The plan in progress fails too. The next plan starts another thread.
    const gone = () => {
      if (this.#worker === worker) this.#worker = undefined
    }
    worker.on('error', gone).on('exit', gone)
    this.#worker = worker
    return worker
  }
}
