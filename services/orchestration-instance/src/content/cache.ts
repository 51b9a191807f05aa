import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fullJitter, type Logger } from '@slipway/runtime'
import { Turnstile } from '../transports/ssh/turnstile.ts'
import { type ContentSource, isPassing, WrongContent } from './source.ts'

/** About half a minute: long enough for a bridge to be restarted. */
const TRIES = 12
const RETRY = { baseMs: 500, capMs: 10_000 }
/** How much content is fetched at a time. */
const FETCHES = 4
const HASH = /^[0-9a-f]{64}$/

export interface ContentCacheOptions {
  /** What is held by commands stays even beyond this. */
  maxBytes: number
  source: ContentSource
  logger: Logger
}

/** Content on this disk that stays until it is released. */
export interface HeldContent {
  file: string
  release(): void
}

interface Entry {
  size: number
  /** How the file looked when its hash was last found right; null where that has to be looked at again. */
  seal: string | null
}

/** Content by its hash in a folder of this instance, the least recently used out first. */
export class ContentCache {
  readonly #folder: string
  readonly #options: ContentCacheOptions
  /** In the order of their use. */
  readonly #entries: Map<string, Entry>
  readonly #holds = new Map<string, number>()
  readonly #checks = new Map<string, Promise<boolean>>()
  readonly #fetches = new Map<string, Promise<void>>()
  readonly #places = new Turnstile(FETCHES)
  #tidying = Promise.resolve()
  /** Of what is just being fetched. */
  #comingBytes = 0

  private constructor(folder: string, options: ContentCacheOptions, entries: Map<string, Entry>) {
    this.#folder = folder
    this.#options = options
    this.#entries = entries
  }

  /** Takes up what an earlier process left in the folder; each file is verified before its first use. */
  static async open(folder: string, options: ContentCacheOptions): Promise<ContentCache> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const found: { id: string; size: number; at: number }[] = []
    for (const id of await readdir(folder)) {
      const file = path.join(folder, id)
      if (HASH.test(id)) await stat(file).then(({ size, mtimeMs }) => found.push({ id, size, at: mtimeMs }))
      else await rm(file, { force: true })
    }
    found.sort((a, b) => a.at - b.at)
    const cache = new ContentCache(folder, options, new Map(found.map(({ id, size }) => [id, { size, seal: null }])))
    await cache.#makeRoom()
    return cache
  }

  /**
   * Content, verified; `fresh` has it fetched whether it is there or not. Whoever wants the same at once shares one fetch.
   * Throws what the source throws, and errors of this disk.
   */
  async hold(id: string, fresh: boolean): Promise<HeldContent> {
    // Before anything is waited for: from here on nobody else's need for room takes it away.
    this.#holds.set(id, (this.#holds.get(id) ?? 0) + 1)
    try {
      if (fresh || !(await once(this.#checks, id, () => this.#isSound(id)))) {
        await once(this.#fetches, id, () => this.#places.pass(() => this.#fetch(id)))
      }
      this.#touch(id)
    } catch (error) {
      this.#release(id)
      throw error
    }
    let held = true
    return {
      file: this.#fileOf(id),
      release: () => {
        if (held) this.#release(id)
        held = false
      },
    }
  }

  /** Somebody has read other bytes from it: it is verified before it is used again. */
  doubt(id: string): void {
    const entry = this.#entries.get(id)
    if (entry) entry.seal = null
  }

  #fileOf(id: string): string {
    return path.join(this.#folder, id)
  }

  #release(id: string): void {
    const left = (this.#holds.get(id) ?? 1) - 1
    if (left > 0) this.#holds.set(id, left)
    else this.#holds.delete(id)
    void this.#makeRoom()
  }

  #touch(id: string): void {
    const entry = this.#entries.get(id)
    if (!entry) return
    this.#entries.delete(id)
    this.#entries.set(id, entry)
  }

  /** Reads the file only where it is not just as it was when it was last verified. */
  async #isSound(id: string): Promise<boolean> {
    const entry = this.#entries.get(id)
    if (!entry) return false
    const file = this.#fileOf(id)
    const seal = await sealOf(file)
    if (seal !== null && seal === entry.seal) return true
    if (seal !== null && (await hashOf(file)) === id) {
      entry.seal = seal
      return true
    }
    this.#options.logger.warn('a file of the content cache is damaged or gone, it is fetched again', { content: id })
    return false
  }

  async #fetch(id: string): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#fetchOnce(id)
      } catch (error) {
        if (attempt === TRIES || !isPassing(error)) throw error
        this.#options.logger.warn('content could not be fetched, trying again', { content: id, attempt, error })
        await delay(fullJitter(attempt, RETRY))
      }
    }
  }

  async #fetchOnce(id: string): Promise<void> {
    const draft = path.join(this.#folder, `${randomUUID()}.draft`)
    const hash = createHash('sha256')
    let coming = 0
    try {
      const { size, bytes } = await this.#options.source(id)
      coming = size
      this.#comingBytes += coming
      await this.#makeRoom()
      const handle = await open(draft, 'wx', 0o600)
      try {
        for await (const piece of bytes) {
          hash.update(piece)
          await handle.writeFile(piece)
        }
      } finally {
        await handle.close()
      }
      if (hash.digest('hex') !== id) throw new WrongContent()
      await rename(draft, this.#fileOf(id))
      this.#entries.set(id, { size, seal: await sealOf(this.#fileOf(id)) })
    } finally {
      this.#comingBytes -= coming
      await rm(draft, { force: true })
    }
  }

  /** Deletes what was used longest ago and is not held, until the rest and what is coming fit. */
  #makeRoom(): Promise<void> {
    // One after the other, so that whoever has waited for it knows that nothing is being deleted any more.
    this.#tidying = this.#tidying
      .then(() => this.#evict())
      .catch((error) => this.#options.logger.warn('the content cache could not be cut to its size', { error }))
    return this.#tidying
  }

  async #evict(): Promise<void> {
    let bytes = this.#comingBytes
    for (const { size } of this.#entries.values()) bytes += size
    for (const [id, { size }] of [...this.#entries]) {
      if (bytes <= this.#options.maxBytes) return
      if (this.#holds.has(id)) continue
      this.#entries.delete(id)
      bytes -= size
      await rm(this.#fileOf(id), { force: true })
    }
  }
}

/** The work under this name that is under way, or this one. */
function once<T>(running: Map<string, Promise<T>>, name: string, work: () => Promise<T>): Promise<T> {
  const known = running.get(name)
  if (known !== undefined) return known
  const started = work().finally(() => running.delete(name))
  running.set(name, started)
  return started
}

/** Changes whenever anybody writes to the file, however they set its times; null where there is none. */
async function sealOf(file: string): Promise<string | null> {
  const found = await stat(file, { bigint: true }).catch(() => null)
  return found && `${found.ino} ${found.size} ${found.ctimeNs}`
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of createReadStream(file, { highWaterMark: 1024 * 1024 })) hash.update(piece as Buffer)
  return hash.digest('hex')
}
