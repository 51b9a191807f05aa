import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import path from 'node:path'
import type { Logger } from '@slipway/runtime'
import { Refusal } from '../commands/refusal.ts'

const HASH = /^[0-9a-f]{64}$/
/** The largest that the content store takes. */
const MAX_BYTES = 1024 ** 3

/**
 * Content by its hash on this disk, the least recently used out first. Instances bring what is missing; it is verified
 * when it comes, and by every command that copies it.
 */
export class Shelf {
  readonly #folder: string
  readonly #maxBytes: number
  readonly #logger: Logger
  /** In the order of their use, with their sizes. */
  readonly #kept = new Map<string, number>()
  readonly #holds = new Map<string, number>()

  private constructor(folder: string, maxBytes: number, logger: Logger) {
    this.#folder = folder
    this.#maxBytes = maxBytes
    this.#logger = logger
  }

  static async open(folder: string, maxBytes: number, logger: Logger): Promise<Shelf> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const shelf = new Shelf(folder, maxBytes, logger)
    const found: { id: string; size: number; usedAt: number }[] = []
    for (const id of await readdir(folder)) {
      const file = path.join(folder, id)
      if (HASH.test(id)) await stat(file).then(({ size, mtimeMs }) => found.push({ id, size, usedAt: mtimeMs }))
      else await rm(file, { force: true })
    }
    found.sort((a, b) => a.usedAt - b.usedAt)
    for (const { id, size } of found) shelf.#kept.set(id, size)
    await shelf.#makeRoom(0)
    return shelf
  }

  fileOf(id: string): string {
    return path.join(this.#folder, id)
  }

  /** Keeps these until they are released. Throws Refusal with those that are not there. */
  async hold(ids: readonly string[]): Promise<{ release(): void }> {
    const missing = [...new Set(ids)].filter((id) => !this.#kept.has(id))
    if (missing.length > 0) throw new Refusal('MISSING_CONTENT', 'Content of the files is not here yet', missing)
    for (const id of ids) {
      this.#holds.set(id, (this.#holds.get(id) ?? 0) + 1)
      this.#touch(id)
    }
    return { release: () => this.#release(ids) }
  }

  /** Takes bytes in. Throws Refusal when they are others than their name says. */
  async put(id: string, announced: number, bytes: AsyncIterable<Buffer>): Promise<void> {
    if (announced > MAX_BYTES) throw new Refusal('INVALID', `Content has at most ${MAX_BYTES} bytes`)
    await this.#makeRoom(announced)
    const draft = path.join(this.#folder, `${randomUUID()}.draft`)
    const hash = createHash('sha256')
    let size = 0
    try {
      const handle = await open(draft, 'wx', 0o600)
      try {
        for await (const piece of bytes) {
          size += piece.length
          if (size > announced) throw new Refusal('INVALID', 'More bytes came than were announced')
          hash.update(piece)
          await handle.writeFile(piece)
        }
      } finally {
        await handle.close()
      }
      if (hash.digest('hex') !== id) throw new Refusal('INVALID', 'Other bytes came than their hash says')
      await rename(draft, this.fileOf(id))
      this.#kept.delete(id)
      this.#kept.set(id, size)
    } catch (error) {
      const { code, syscall } = error as NodeJS.ErrnoException
      if (syscall === 'read' || code === undefined || error instanceof Refusal) throw error
      throw new Refusal('DISK', `The disk of the target does not take the content (${code})`)
    } finally {
      await rm(draft, { force: true })
    }
  }

  /** It turned out to be damaged. */
  discard(id: string): void {
    this.#kept.delete(id)
  }

  #touch(id: string): void {
    const size = this.#kept.get(id)
    if (size === undefined) return
    this.#kept.delete(id)
    this.#kept.set(id, size)
    void utimes(this.fileOf(id), new Date(), new Date()).catch(() => {})
  }

  #release(ids: readonly string[]): void {
    for (const id of ids) {
      const left = (this.#holds.get(id) ?? 1) - 1
      if (left > 0) this.#holds.set(id, left)
      else this.#holds.delete(id)
    }
    void this.#makeRoom(0).catch((error) => this.#logger.warn('content could not be deleted', { error }))
  }

  async #makeRoom(coming: number): Promise<void> {
    let bytes = coming
    for (const size of this.#kept.values()) bytes += size
    for (const [id, size] of [...this.#kept]) {
      if (bytes <= this.#maxBytes) return
      if (this.#holds.has(id)) continue
      this.#kept.delete(id)
      bytes -= size
      await rm(this.fileOf(id), { force: true })
    }
  }
}
