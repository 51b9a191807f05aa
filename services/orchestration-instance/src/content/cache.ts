import { setTimeout as delay } from 'node:timers/promises'
import { ContentFolder } from '@slipway/execution'
import { fullJitter, type Logger, Turnstile } from '@slipway/runtime'
import { type ContentSource, isPassing } from './source.ts'

/** About half a minute: long enough for a bridge to be restarted. */
const ATTEMPTS = 12
const RETRY = { baseMs: 500, capMs: 10_000 }
/** How much content is fetched at a time. */
const FETCHES = 4

export interface ContentCacheOptions {
  /** Content that commands use stays even beyond this limit. */
  maxBytes: number
  source: ContentSource
  logger: Logger
}

/** Content on this disk that stays until it is released. */
export interface HeldContent {
  file: string
  release(): void
}

/** Content in a folder of this instance. Missing content is fetched. */
export class ContentCache {
  readonly #content: ContentFolder
  readonly #options: ContentCacheOptions
  readonly #checks = new Map<string, Promise<boolean>>()
  readonly #fetches = new Map<string, Promise<void>>()
  readonly #places = new Turnstile(FETCHES)

  private constructor(content: ContentFolder, options: ContentCacheOptions) {
    this.#content = content
    this.#options = options
  }

  /** Uses the files of an earlier process. Each file is verified before its first use. */
  static async open(folder: string, options: ContentCacheOptions): Promise<ContentCache> {
    const { maxBytes, logger } = options
    const content = await ContentFolder.open(folder, {
      maxBytes,
      onProblem: (error) => logger.warn('the content cache could not be cut to its size', { error }),
    })
    return new ContentCache(content, options)
  }

  /**
   * Verified content. With `fresh` it is fetched in any case. Calls for the same content at the same time share one fetch.
   * Throws the errors of the source and of this disk.
   */
  async hold(id: string, fresh: boolean): Promise<HeldContent> {
    // Before the first wait: from here on the content is not deleted to make room.
    const release = this.#content.hold(id)
    try {
      if (fresh || !(await once(this.#checks, id, () => this.#isSound(id)))) {
        await once(this.#fetches, id, () => this.#places.pass(() => this.#fetch(id)))
      }
      this.#content.touch(id)
      return { file: this.#content.fileOf(id), release }
    } catch (error) {
      release()
      throw error
    }
  }

  /** A command has read wrong bytes. The content is verified before its next use. */
  doubt(id: string): void {
    this.#content.doubt(id)
  }

  /** Deletes what no command uses now. */
  deleteUnused(): Promise<void> {
    return this.#content.deleteUnused()
  }

  async #isSound(id: string): Promise<boolean> {
    if (!this.#content.has(id)) return false
    const isSound = await this.#content.isSound(id)
    const { logger } = this.#options
    if (!isSound) logger.warn('a file of the content cache is damaged or gone, it is fetched again', { content: id })
    return isSound
  }

  async #fetch(id: string): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const { size, bytes } = await this.#options.source(id)
        return await this.#content.take(id, size, bytes)
      } catch (error) {
        if (attempt === ATTEMPTS || !isPassing(error)) throw error
        this.#options.logger.warn('content could not be fetched, trying again', { content: id, attempt, error })
        await delay(fullJitter(attempt, RETRY))
      }
    }
  }
}

/** The running work of this name; otherwise starts this work. */
function once<T>(running: Map<string, Promise<T>>, name: string, work: () => Promise<T>): Promise<T> {
  const known = running.get(name)
  if (known !== undefined) return known
  const started = work().finally(() => running.delete(name))
  running.set(name, started)
  return started
}
