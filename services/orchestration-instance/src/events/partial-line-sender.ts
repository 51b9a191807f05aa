import { setTimeout as delay } from 'node:timers/promises'
import { MAX_PARTIAL_LINES, type PartialLine } from '@slipway/contracts'
import type { Logger } from '@slipway/runtime'

const EVERY_MS = 1_000

type Place = Pick<PartialLine, 'target' | 'action' | 'stream'>

interface PartialLineSenderOptions {
  post(lines: PartialLine[]): Promise<void>
  logger: Logger
}

/**
 * Sends unfinished lines of a run to the bridge: of each step and stream the latest one, at most one call a second. They are
 * not stored, so a failed call is not repeated.
 */
export class PartialLineSender {
  readonly #options: PartialLineSenderOptions
  readonly #waiting = new Map<string, PartialLine>()
  #isSending = false
  #isClosed = false

  constructor(options: PartialLineSenderOptions) {
    this.#options = options
  }

  put(line: PartialLine): void {
    if (this.#isClosed) return
    this.#waiting.set(keyOf(line), line)
    if (!this.#isSending) void this.#send()
  }

  /** The line is finished, so its unfinished text is out of date. */
  drop(place: Place): void {
    if (this.#waiting.size > 0) this.#waiting.delete(keyOf(place))
  }

  close(): void {
    this.#isClosed = true
    this.#waiting.clear()
  }

  async #send(): Promise<void> {
    this.#isSending = true
    while (this.#waiting.size > 0) {
      const lines = [...this.#waiting.values()].slice(0, MAX_PARTIAL_LINES)
      for (const line of lines) this.#waiting.delete(keyOf(line))
      await this.#options.post(lines).catch((error) => {
        this.#options.logger.debug('unfinished lines could not be sent', { error })
      })
      await delay(EVERY_MS, undefined, { ref: false })
    }
    this.#isSending = false
  }
}

const keyOf = ({ target, action, stream }: Place) => `${target}/${action}/${stream}`
