import { mkdir, open, rm, stat, statfs } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isNoSpace } from '@slipway/commands'
import type { Logger } from '@slipway/runtime'

const CHECK_MS = 1_000
const MIB = 1024 * 1024
const MAX_RESERVE_BYTES = 16 * MIB
/** The reserve is this share of the disk, and of the limit of the journals. */
const RESERVE_SHARE = 16
/** With less free space than this, the disk counts as full. */
const MAX_LOW_BYTES = MIB

interface JournalDiskOptions {
  /** The limit of the journals in bytes. */
  maxBytes: number
  /** Deletes cached content. */
  freeSpace(): Promise<void>
  logger: Logger
}

/**
 * Watches the disk of the journals. A full disk must not end the instance: each restart would cost every running command
 * an attempt. While the disk is full, journals wait for space and the instance accepts no runs.
 *
 *     free ──little space is left──▶ full
 *     free ──a write fails─────────▶ full, and the reserve is deleted: runs continue in its space and can compact journals
 *     full ──there is space, and the reserve exists again──▶ free
 */
export class JournalDisk {
  readonly #folder: string
  readonly #reserve: string
  readonly #options: JournalDiskOptions
  #reserveBytes = 0
  #hasReserve = false
  #isFull = false
  #fullSince = 0
  #fullMs = 0
  #checking: Promise<void> | null = null
  readonly #listeners = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined
  /** Called when the disk becomes full or free. */
  onChange: () => void = () => {}
  #whenFree: { promise: Promise<void>; resolve: () => void } | null = null

  private constructor(folder: string, options: JournalDiskOptions) {
    this.#folder = folder
    // Outside the folder of the journals, but on the same disk.
    this.#reserve = path.join(path.dirname(folder), 'journal-reserve')
    this.#options = options
  }

  static async open(folder: string, options: JournalDiskOptions): Promise<JournalDisk> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const disk = new JournalDisk(folder, options)
    const { blocks, bsize } = await statfs(folder)
    const total = blocks > 0 ? blocks * bsize : Number.POSITIVE_INFINITY
    disk.#reserveBytes = Math.floor(Math.min(MAX_RESERVE_BYTES, Math.min(options.maxBytes, total) / RESERVE_SHARE))
    await disk.#keepReserve()
    if (!disk.#hasReserve) disk.markFull(null)
    disk.#timer = setInterval(() => void disk.check(), CHECK_MS).unref()
    return disk
  }

  get isFull(): boolean {
    return this.#isFull
  }

  /** The total time in which the disk was full. */
  get fullMs(): number {
    return this.#fullMs + (this.#isFull ? performance.now() - this.#fullSince : 0)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** Call after a write found no space. Resolves when another write may succeed. */
  async waitForSpace(error: unknown): Promise<void> {
    this.markFull(error)
    if (!this.#hasReserve) return delay(CHECK_MS)
    this.#hasReserve = false
    await rm(this.#reserve, { force: true })
  }

  /** Calls the listener when the disk becomes full, and then about every second. Returns a function that unsubscribes. */
  whileFull(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  check(): Promise<void> {
    this.#checking ??= this.#check()
      .catch((error) =>
        this.#options.logger.error('the free space of the disk of the journals cannot be read', { error }),
      )
      .finally(() => {
        this.#checking = null
      })
    return this.#checking
  }

  /** Resolves when the disk is not full. */
  whenFree(): Promise<void> {
    if (!this.#isFull) return Promise.resolve()
    if (!this.#whenFree) {
      let resolve = () => {}
      const promise = new Promise<void>((done) => {
        resolve = done
      })
      this.#whenFree = { promise, resolve }
    }
    return this.#whenFree.promise
  }

  async #check(): Promise<void> {
    const lowBytes = this.#lowBytes
    if ((await this.#freeBytes()) < lowBytes) this.markFull(null)
    if (!this.#isFull) return
    if (!this.#hasReserve) await this.#keepReserve()
    if (this.#hasReserve && (await this.#freeBytes()) >= 2 * lowBytes) this.#markFree()
    else this.#callListeners()
  }

  #callListeners(): void {
    for (const listener of this.#listeners) listener()
  }

  get #lowBytes(): number {
    return Math.min(MAX_LOW_BYTES, this.#reserveBytes / 4)
  }

  /** Keeps an existing reserve of the right size. Otherwise creates one if there is space. */
  async #keepReserve(): Promise<void> {
    const found = await stat(this.#reserve).catch(() => null)
    if (found?.size === this.#reserveBytes) {
      this.#hasReserve = true
      return
    }
    await rm(this.#reserve, { force: true })
    if ((await this.#freeBytes()) >= this.#reserveBytes + 2 * this.#lowBytes) await this.#makeReserve()
  }

  async #freeBytes(): Promise<number> {
    const { blocks, bsize, bavail, bfree } = await statfs(this.#folder)
    // Some file systems do not report their size.
    if (blocks === 0) return Number.POSITIVE_INFINITY
    return (process.getuid?.() === 0 ? bfree : bavail) * bsize
  }

  async #makeReserve(): Promise<void> {
    const piece = Buffer.alloc(Math.min(MIB, this.#reserveBytes))
    const handle = await open(this.#reserve, 'w', 0o600)
    try {
      for (let left = this.#reserveBytes; left > 0; left -= piece.length) {
        await handle.writeFile(piece.subarray(0, Math.min(left, piece.length)))
      }
      this.#hasReserve = true
    } catch (error) {
      await rm(this.#reserve, { force: true })
      if (!isNoSpace(error)) throw error
    } finally {
      await handle.close()
    }
  }

  markFull(error: unknown): void {
    if (this.#isFull) return
    this.#isFull = true
    this.#fullSince = performance.now()
    const { logger, freeSpace } = this.#options
    logger.error('the disk of the journals is full: runs wait, and no run starts; free space in SLIPWAY_JOURNAL_DIR', {
      error,
    })
    void freeSpace().catch((problem) => logger.warn('cached content could not be deleted', { error: problem }))
    this.onChange()
    this.#callListeners()
  }

  #markFree(): void {
    this.#fullMs = this.fullMs
    this.#isFull = false
    this.#options.logger.info('the disk of the journals has space again')
    this.#whenFree?.resolve()
    this.#whenFree = null
    this.onChange()
  }
}
