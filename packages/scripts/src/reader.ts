import { Worker } from 'node:worker_threads'
import type { Interpreter } from '@slipway/domain'
import type { ReadScript } from './read.ts'

/** An ordinary script of 4 kB takes 4 ms. */
const MAX_MS = 1_000
/** After this time without a script, the thread ends and frees its memory. */
const IDLE_MS = 60_000
const MAX_HEAP_MIB = 128

/** The largest script, in bytes. */
export const MAX_SCRIPT_BYTES = 256 * 1_024

/** A script takes too long to read. */
export class UnreadableScript extends Error {
  override name = 'UnreadableScript'
}

const FILE = `./reading-thread.${import.meta.filename.endsWith('.ts') ? 'ts' : 'js'}`

/** Reads scripts in a thread, one at a time, with a bound of a second for each. */
export class ScriptReader {
  #worker: Worker | undefined
  #last: Promise<unknown> = Promise.resolve()
  #idle: NodeJS.Timeout | undefined

  /** @throws UnreadableScript for a script that takes more than a second */
  read(script: string, interpreter: Interpreter): Promise<ReadScript> {
    const read = this.#last.then(() => this.#read(script, interpreter))
    this.#last = read.catch(() => {})
    return read
  }

  async close(): Promise<void> {
    await this.#last
    await this.#end()
  }

  async #read(script: string, interpreter: Interpreter): Promise<ReadScript> {
    clearTimeout(this.#idle)
    const worker = await this.#started()
    try {
      return await answerOf(worker, { script, interpreter })
    } catch (error) {
      await this.#end()
      throw error
    } finally {
      this.#idle = setTimeout(() => void this.#end(), IDLE_MS).unref()
    }
  }

  async #started(): Promise<Worker> {
    if (this.#worker !== undefined) return this.#worker
    const worker = new Worker(new URL(FILE, import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
    })
    worker.unref()
    this.#worker = worker
    // The bound of a script does not count the time in which the thread starts and loads a grammar.
    await answerOf(worker, { script: '', interpreter: 'sh' }, 10 * MAX_MS)
    return worker
  }

  async #end(): Promise<void> {
    clearTimeout(this.#idle)
    const worker = this.#worker
    this.#worker = undefined
    await worker?.terminate()
  }
}

type Answer = { read: ReadScript } | { failure: string }

function answerOf(
  worker: Worker,
  message: { script: string; interpreter: Interpreter },
  maxMs = MAX_MS,
): Promise<ReadScript> {
  return new Promise((resolve, reject) => {
    const settle = (fn: () => void) => {
      clearTimeout(timer)
      worker.off('message', onMessage).off('error', onError).off('exit', onExit)
      fn()
    }
    const onMessage = (answer: Answer) =>
      settle(() => ('read' in answer ? resolve(answer.read) : reject(new Error(answer.failure))))
    const onError = (error: Error & { code?: unknown }) =>
      settle(() => reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooLong() : error))
    const onExit = () => settle(() => reject(new Error('the thread that reads scripts ended')))
    const timer = setTimeout(() => settle(() => reject(tooLong())), maxMs)
    worker.on('message', onMessage).on('error', onError).on('exit', onExit)
    worker.postMessage(message)
  })
}

const tooLong = () =>
  new UnreadableScript('the script takes longer than a second to read: move parts of it into `files`')
