import { setTimeout as delay } from 'node:timers/promises'
import { ContentFolder } from '@slipway/commands'
import { fullJitter, type Logger, Semaphore } from '@slipway/runtime'
import { type ContentSource, isTransient } from './source.ts'

/** With RETRY about 30 s, long enough for a restart of the bridge. */
const ATTEMPTS = 12
const RETRY = { baseMs: 500, capMs: 10_000 }
/** How many fetches run at a time. */
const MAX_FETCHES = 4

interface ContentCacheOptions {
  /** Content in use is kept beyond this limit. */
  maxBytes: number
  source: ContentSource
  logger: Logger
}

/** Content that stays on the disk until it is released. */
export interface HeldContent {
  file: string
  release(): void
}

/** The content cache of this instance. Fetches missing content. */
export class ContentCache {
  readonly #content: ContentFolder
  readonly #options: ContentCacheOptions
  readonly #checks = new Map<string, Promise<boolean>>()
  readonly #fetches = new Map<string, Promise<void>>()
  readonly #fetchSlots = new Semaphore(MAX_FETCHES)

  private constructor(content: ContentFolder, options: ContentCacheOptions) {
    this.#content = content
    this.#options = options
  }

  /** Keeps the files of an earlier process. Each file is verified before its first use. */
  static async open(folder: string, options: ContentCacheOptions): Promise<ContentCache> {
    const { maxBytes, logger } = options
    const content = await ContentFolder.open(folder, {
      maxBytes,
      onProblem: (error) => logger.warn('the content cache could not be cut to its size', { error }),
    })
    return new ContentCache(content, options)
  }

  /**
   * Returns verified content. With `fresh`, fetches in any case. Concurrent calls for the same content share one fetch.
   * Throws errors of the source and of the disk.
   */
  async hold(id: string, fresh: boolean): Promise<HeldContent> {
    // Must come before the first await: from here on the content is not deleted to free space.
    const release = this.#content.hold(id)
    try {
      if (fresh || !(await once(this.#checks, id, () => this.#isSound(id)))) {
        await once(this.#fetches, id, () => this.#fetchSlots.run(() => this.#fetch(id)))
      }
      this.#content.touch(id)
      return { file: this.#content.fileOf(id), release }
    } catch (error) {
      release()
      throw error
    }
  }

  /** Verifies the content before its next use, because a command read wrong bytes. */
  verifyAgain(id: string): void {
    this.#content.verifyAgain(id)
  }

  deleteUnused(): Promise<void> {
    return this.#content.deleteUnused()
  }

  async #isSound(id: string): Promise<boolean> {
    if (!this.#content.has(id)) return false
    const isSound = await this.#content.isSound(id)
    const { logger } = this.#options
    if (!isSound) logger.warn('a file of the content cache is damaged or missing: it is fetched again', { content: id })
    return isSound
  }

  async #fetch(id: string): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const { size, bytes } = await this.#options.source(id)
        return await this.#content.store(id, size, bytes)
      } catch (error) {
        if (attempt === ATTEMPTS || !isTransient(error)) throw error
        this.#options.logger.warn('content could not be fetched: the next attempt follows', {
          content: id,
          attempt,
          error,
        })
        await delay(fullJitter(attempt, RETRY))
      }
    }
  }
}

/** Joins the running work of this name, or starts it. */
function once<T>(running: Map<string, Promise<T>>, name: string, work: () => Promise<T>): Promise<T> {
  const known = running.get(name)
  if (known !== undefined) return known
  const started = work().finally(() => running.delete(name))
  running.set(name, started)
  return started
}
