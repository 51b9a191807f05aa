import { constants } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { isNoSpace } from '@slipway/execution'
import { syncFolder } from '@slipway/runtime'
import type { JournalDisk } from './journal-disk.ts'
import { lines } from './read-journal.ts'
import type { Header } from './records.ts'
import type { Rewriting } from './rewrite.ts'

/** How long lines are gathered for one write, if no caller waits for them. */
const GATHER_MS = 5
/** Each write is on the disk when it returns. This needs half the CPU of a write and a flush. */
const FLUSHED = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_DSYNC
/** The size of one write during a rewrite, and while the disk is full. */
const SLICE_BYTES = 256 * 1024

export interface JournalOptions {
  /** Knows whether there is room. */
  disk: JournalDisk
  /** The disk fails for another reason than a lack of room. Called once. From then on nothing is durable. */
  onFailure(error: Error): void
}

/**
 * Appends lines to a run's file. Writes and flushes of many lines are one. While the disk is full the lines wait in memory,
 * and nothing more is durable.
 *
 *     open ──no space──▶ full ──space again──▶ open      full: lines wait, and are tried a slice at a time
 *     open, full ──any other error──▶ broken             broken: nothing is durable any more; `onFailure` was called
 *     open, full ──close──▶ closing ──last flush──▶ closed    closing: lines without room are given up
 *     A rewrite runs between two flushes, and replaces the file by one without the lines that are not kept.
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
  #rewriting: { how: Rewriting; done: () => void } | null = null
  #timer: NodeJS.Timeout | null = null
  #broken = false
  #closing = false
  #closed = false
  /** Called after a rewrite, with a function from old to new positions. */
  onMoved: OnMoved = () => {}

  private constructor(file: string, handle: FileHandle, written: number, options: JournalOptions) {
    this.file = file
    this.#handle = handle
    this.#written = written
    this.#options = options
  }

  /** Creates the file with its first line. When this resolves, the file survives a loss of power. */
  static async create(file: string, header: Header, options: JournalOptions): Promise<Journal> {
    // Under another name until it is complete: a journal without its first line is not valid.
    const draft = `${file}.draft`
    const first = Buffer.from(`${JSON.stringify(header)}\n`)
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
      return new Journal(file, handle, first.length, options)
    } catch (error) {
      for (const left of [draft, file]) await rm(left, { force: true })
      if (isNoSpace(error)) await options.disk.noRoom(error)
      throw error
    }
  }

  /** Continues after `length`, the end of the last complete line. Cuts off an incomplete one. */
  static async reopen(file: string, length: number, options: JournalOptions): Promise<Journal> {
    const handle = await open(file, FLUSHED, 0o600)
    await handle.truncate(length)
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

  /** Adds a line that may be lost: it is written together with the next one. */
  appendLater(line: string): void {
    if (!this.#closed && !this.#broken) this.#push(line)
  }

  /**
   * Rewrites the file with the lines that are kept, and calls `onMoved`. Resolves when the new file survives a loss of power, or
   * if there was no room for it. Never resolves if the rewrite fails or the journal is closed before.
   */
  rewrite(how: Rewriting): Promise<void> {
    return new Promise((done) => {
      if (this.#closed || this.#broken) return
      this.#rewriting = { how, done }
      void this.#flush()
    })
  }

  /** Resolves when all appended lines are on the disk. Never resolves if that fails or the journal is closed before. */
  durable(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#closed || this.#broken) return
      this.#waiting.push(resolve)
      void this.#flush()
    })
  }

  /** Lines without room are lost. A restart treats their commands as interrupted. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closing = true
    await this.#flush()
    this.#closed = true
    await this.#handle.close()
  }

  /** Closes and deletes the journal of a run that is over. */
  async remove(): Promise<void> {
    this.#lines = []
    this.#queued = 0
    this.#waiting = []
    await this.close()
    await rm(this.file, { force: true })
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
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = null
    })
    return this.#writing
  }

  async #writeAll(): Promise<void> {
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
          const { how, done } = this.#rewriting
          this.#rewriting = null
          await this.#rewrite(how)
          done()
        }
      }
    } catch (error) {
      this.#broken = true
      this.#options.onFailure(error as Error)
    }
  }

  /** Writes the lines; returns those for which there was no room. */
  async #write(lines: readonly string[]): Promise<readonly string[]> {
    const { disk } = this.#options
    // A full disk may have room for a few of them.
    const limit = disk.isFull ? SLICE_BYTES : Number.POSITIVE_INFINITY
    for (let from = 0; from < lines.length; ) {
      let to = from
      for (let size = 0; to < lines.length && (to === from || size < limit); to++) size += (lines[to] as string).length
      const bytes = Buffer.from(`${lines.slice(from, to).join('\n')}\n`)
      try {
        await this.#handle.appendFile(bytes)
      } catch (error) {
        if (!isNoSpace(error)) throw error
        // A part of the line may be written.
        await this.#handle.truncate(this.#written)
        await disk.noRoom(error)
        return lines.slice(from)
      }
      this.#written += bytes.length
      this.#queued -= bytes.length
      from = to
    }
    return []
  }

  /** Does nothing if there is no room. */
  async #rewrite(how: Rewriting): Promise<void> {
    const draft = `${this.file}.draft`
    const handle = await this.#openDraft(draft)
    if (handle === null) return
    /** Where what was left out ends, and how much it is with all before it. */
    const cuts: { end: number; bytes: number }[] = []
    let written = 0
    let left = 0
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
        if (before === 0 || how.keeps(text)) {
          kept.push(`${text}\n`)
          size += text.length
          if (size > SLICE_BYTES) await write()
        } else {
          left += end - before
          const last = cuts.at(-1)
          if (last?.end === before) Object.assign(last, { end, bytes: left })
          else cuts.push({ end, bytes: left })
        }
        before = end
      }
      kept.push(`${how.last()}\n`)
      await write()
      await rename(draft, this.file)
    } catch (error) {
      await handle.close()
      await rm(draft, { force: true })
      if (!isNoSpace(error)) throw error
      this.#options.disk.noted(error)
      return
    }
    await syncFolder(path.dirname(this.file))
    await this.#handle.close()
    this.#handle = handle
    const [from, to] = [this.#written, written]
    this.#written = written
    this.onMoved((position) => {
      // Lines that were not in the file yet follow the added line.
      if (position >= from) return position - from + to
      return position - (cuts.findLast(({ end }) => end <= position)?.bytes ?? 0)
    })
  }

  async #openDraft(draft: string): Promise<FileHandle | null> {
    try {
      return await open(draft, FLUSHED | constants.O_TRUNC, 0o600)
    } catch (error) {
      if (!isNoSpace(error)) throw error
      this.#options.disk.noted(error)
      return null
    }
  }
}

/** Maps the old position of a line to the new one. */
type OnMoved = (moved: (position: number) => number) => void
