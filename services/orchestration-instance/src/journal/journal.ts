import { constants } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { isNoSpace } from '@slipway/commands'
import { failpoint, syncFolder } from '@slipway/runtime'
import type { JournalDisk } from './journal-disk.ts'
import { lines } from './read-journal.ts'
import type { Header } from './records.ts'
import type { RewriteRules } from './rewrite.ts'

/** How long lines are collected for one write. */
const GATHER_MS = 5
/** With O_DSYNC each write is on the disk when it returns. A write and a separate flush need twice the CPU. */
const FLUSHED = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_DSYNC
/** The size of one write during a rewrite, and while the disk is full. */
const SLICE_BYTES = 256 * 1024

interface JournalOptions {
  disk: JournalDisk
  /** Called once, when a write fails for another reason than a full disk. From then on nothing is durable. */
  onFailure(error: Error): void
}

/**
 * Appends lines to the file of a run, many lines in one write. While the disk is full, lines wait in memory and are not durable.
 *
 *     open ──no space──▶ full ──space again──▶ open      full: lines wait and are written one slice at a time
 *     open, full ──any other error──▶ broken             broken: `onFailure` was called; no later line is durable
 *     open, full ──close──▶ closing ──last flush──▶ closed    closing: lines without disk space are dropped
 *     A rewrite runs between two writes. It replaces the file by one with fewer lines.
 */
export class Journal {
  readonly file: string
  #handle: FileHandle
  readonly #options: JournalOptions
  #lines: string[] = []
  /** Bytes in the file, and of `#lines`. */
  #written: number
  #queued = 0
  #waiting: (() => void)[] = []
  #writing: Promise<void> | null = null
  #rewriting: { rules: RewriteRules; done: () => void } | null = null
  #timer: NodeJS.Timeout | null = null
  #broken = false
  #closing = false
  #closed = false
  /** Called after a rewrite, with a function from old to new positions. */
  onMoved: OnLinesMoved = () => {}

  private constructor(file: string, handle: FileHandle, written: number, options: JournalOptions) {
    this.file = file
    this.#handle = handle
    this.#written = written
    this.#options = options
  }

  /** Creates the file with its header. When this resolves, the file survives a power failure. */
  static async create(file: string, header: Header, options: JournalOptions): Promise<Journal> {
    // The file has another name until it is complete, because a journal without its header is not valid.
    const draft = `${file}.draft`
    const first = Buffer.from(`${JSON.stringify(header)}\n`)
    failpoint('run-journal', 'before-flush')
    try {
      const handle = await open(draft, FLUSHED | constants.O_TRUNC, 0o600)
      try {
        await handle.appendFile(first)
        await rename(draft, file)
        await syncFolder(path.dirname(file))
      } catch (error) {
        await handle.close()
        throw error
      }
      failpoint('run-journal', 'after-flush')
      return new Journal(file, handle, first.length, options)
    } catch (error) {
      for (const left of [draft, file]) await rm(left, { force: true })
      if (isNoSpace(error)) await options.disk.waitForSpace(error)
      throw error
    }
  }

  /** Continues after `length`, the end of the last complete line. Cuts off an incomplete one. */
  static async reopen(file: string, length: number, options: JournalOptions): Promise<Journal> {
    failpoint('restored-journal', 'before-flush')
    const handle = await open(file, FLUSHED, 0o600)
    await handle.truncate(length)
    failpoint('restored-journal', 'after-flush')
    return new Journal(file, handle, length, options)
  }

  /** The position of the next line. */
  get end(): number {
    return this.#written + this.#queued
  }

  /** Bytes that are not on the disk yet. */
  get queued(): number {
    return this.#queued
  }

  /** Adds a line. Calls `then` when this line and all earlier ones are on the disk. */
  append(line: string, then?: () => void): void {
    if (this.#closed || this.#broken) return
    this.#push(line)
    if (then) this.#waiting.push(then)
    this.#timer ??= setTimeout(() => void this.#flush(), GATHER_MS)
  }

  /** Adds a line that may be lost. It is written together with the next durable line. */
  appendLater(line: string): void {
    if (!this.#closed && !this.#broken) this.#push(line)
  }

  /**
   * Rewrites the file with the lines that the rules keep, and calls `onMoved`. Resolves when the new file survives a power
   * failure, or if there was no disk space for it. Never resolves if the rewrite fails or the journal is closed before.
   */
  rewrite(rules: RewriteRules): Promise<void> {
    return new Promise((done) => {
      if (this.#closed || this.#broken) return
      this.#rewriting = { rules, done }
      void this.#flush()
    })
  }

  /** Resolves when all appended lines are on the disk. Never resolves if the write fails or the journal is closed before. */
  durable(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#closed || this.#broken) return
      this.#waiting.push(resolve)
      void this.#flush()
    })
  }

  /** Drops lines without disk space. A restart treats their commands as interrupted. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closing = true
    await this.#flush()
    this.#closed = true
    await this.#handle.close()
  }

  async remove(): Promise<void> {
    this.#lines = []
    this.#queued = 0
    this.#waiting = []
    await this.close()
    failpoint('ended-journal', 'before-removal')
    await rm(this.file, { force: true })
    failpoint('ended-journal', 'after-removal')
  }

  get #hasWork(): boolean {
    return this.#lines.length > 0 || this.#waiting.length > 0 || this.#rewriting !== null
  }

  #push(line: string): void {
    this.#lines.push(line)
    this.#queued += Buffer.byteLength(line) + 1
  }

  #flush(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    this.#writing ??= this.#writeAll()
    return this.#writing
  }

  async #writeAll(): Promise<void> {
    // The caller stores the promise first.
    await null
    try {
      while (!this.#broken && !this.#closed && this.#hasWork) {
        const lines = this.#lines
        const waiting = this.#waiting
        this.#lines = []
        this.#waiting = []
        const left = await this.#write(lines)
        if (left.length > 0) {
          this.#lines = [...left, ...this.#lines]
          this.#waiting = [...waiting, ...this.#waiting]
          if (this.#closing) return
        } else {
          for (const then of waiting) then()
        }
        if (this.#rewriting) {
          const { rules, done } = this.#rewriting
          this.#rewriting = null
          await this.#rewrite(rules)
          done()
        }
      }
    } catch (error) {
      this.#broken = true
      this.#options.onFailure(error as Error)
    } finally {
      // In the same turn as the last look for work: no work may come in between and wait for a writer that has ended.
      this.#writing = null
    }
  }

  /** Writes the lines. Returns the lines that found no disk space. */
  async #write(lines: readonly string[]): Promise<readonly string[]> {
    const { disk } = this.#options
    // A full disk may have space for a few lines.
    failpoint({ lines }, 'before-flush')
    const limit = disk.isFull ? SLICE_BYTES : Number.POSITIVE_INFINITY
    for (let from = 0; from < lines.length; ) {
      let to = from
      for (let size = 0; to < lines.length && (to === from || size < limit); to++) size += (lines[to] as string).length
      const bytes = Buffer.from(`${lines.slice(from, to).join('\n')}\n`)
      try {
        await this.#handle.appendFile(bytes)
      } catch (error) {
        if (!isNoSpace(error)) throw error
        // The file may end with a part of a line.
        await this.#handle.truncate(this.#written)
        await disk.waitForSpace(error)
        return lines.slice(from)
      }
      this.#written += bytes.length
      this.#queued -= bytes.length
      from = to
    }
    failpoint({ lines }, 'after-flush')
    return []
  }

  /** Does nothing without disk space. */
  async #rewrite(rules: RewriteRules): Promise<void> {
    const draft = `${this.file}.draft`
    const handle = await this.#openDraft(draft)
    if (handle === null) return
    /** The ends of the removed sections in the old file, each with the number of bytes removed up to there. */
    const cuts: { end: number; bytes: number }[] = []
    let written = 0
    let removed = 0
    try {
      let kept: string[] = []
      let size = 0
      let before = 0
      const write = async () => {
        const bytes = Buffer.from(kept.join(''))
        await handle.appendFile(bytes)
        written += bytes.length
        kept = []
        size = 0
      }
      for await (const { text, end } of lines(this.file)) {
        if (before === 0 || rules.keeps(text)) {
          kept.push(`${text}\n`)
          size += text.length
          if (size > SLICE_BYTES) await write()
        } else {
          removed += end - before
          const last = cuts.at(-1)
          if (last?.end === before) Object.assign(last, { end, bytes: removed })
          else cuts.push({ end, bytes: removed })
        }
        before = end
      }
      kept.push(`${rules.last()}\n`)
      await write()
      await rename(draft, this.file)
    } catch (error) {
      await handle.close()
      await rm(draft, { force: true })
      if (!isNoSpace(error)) throw error
      this.#options.disk.markFull(error)
      return
    }
    await syncFolder(path.dirname(this.file))
    await this.#handle.close()
    this.#handle = handle
    const [from, to] = [this.#written, written]
    this.#written = written
    this.onMoved((position) => {
      // Lines that were still in memory follow the added last line.
      if (position >= from) return position - from + to
      return position - (cuts.findLast(({ end }) => end <= position)?.bytes ?? 0)
    })
  }

  async #openDraft(draft: string): Promise<FileHandle | null> {
    try {
      return await open(draft, FLUSHED | constants.O_TRUNC, 0o600)
    } catch (error) {
      if (!isNoSpace(error)) throw error
      this.#options.disk.markFull(error)
      return null
    }
  }
}

/** Maps the old position of a line to the new one. */
type OnLinesMoved = (moved: (position: number) => number) => void
