import { constants } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { syncFolder } from '@slipway/runtime'
import { lines } from './read-journal.ts'
import type { Header } from './records.ts'
import type { Rewriting } from './rewrite.ts'

/** How long lines that nobody waits for are gathered for one write. */
const GATHER_MS = 5
/** Each write is on the disk when it returns, which takes half the processor time of a write and a flush. */
const FLUSHED = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_DSYNC
/** How much is written at a time when the file is written anew. */
const REWRITE_BYTES = 256 * 1024

/**
 * Appends lines to a run's file. Writes and flushes of many lines are one. A failing disk is reported once by
 * `onFailure`; from then on nothing counts as durable any more.
 */
export class Journal {
  readonly file: string
  #handle: FileHandle
  readonly #onFailure: (error: Error) => void
  #lines: string[] = []
  /** Bytes in the file, and of `#lines`. */
  #written: number
  #queued = 0
  #waiting: (() => void)[] = []
  #writing: Promise<void> | null = null
  #rewriting: { how: Rewriting; onMoved: OnMoved; done: () => void } | null = null
  #timer: NodeJS.Timeout | null = null
  #broken = false
  #closed = false

  private constructor(file: string, handle: FileHandle, written: number, onFailure: (error: Error) => void) {
    this.file = file
    this.#handle = handle
    this.#written = written
    this.#onFailure = onFailure
  }

  /** Makes the file with its first line. When this resolves, it survives a loss of power. */
  static async create(file: string, header: Header, onFailure: (error: Error) => void): Promise<Journal> {
    // Under another name until it is whole: a journal without its first line is none.
    const draft = `${file}.draft`
    const handle = await open(draft, FLUSHED | constants.O_TRUNC, 0o600)
    const first = Buffer.from(`${JSON.stringify(header)}\n`)
    try {
      await handle.appendFile(first)
      await rename(draft, file)
      await syncFolder(path.dirname(file))
    } catch (error) {
      await handle.close()
      throw error
    }
    return new Journal(file, handle, first.length, onFailure)
  }

  /** Goes on behind `length`, the end of the last whole line: a torn one is cut off. */
  static async reopen(file: string, length: number, onFailure: (error: Error) => void): Promise<Journal> {
    const handle = await open(file, FLUSHED, 0o600)
    await handle.truncate(length)
    return new Journal(file, handle, length, onFailure)
  }

  /** Where the next line begins. */
  get end(): number {
    return this.#written + this.#queued
  }

  /** Bytes that are still on their way to the disk. */
  get queued(): number {
    return this.#queued
  }

  /** Adds a line. `then` is called when it, and all before it, are on the disk. */
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
   * Writes the file anew with those of its lines that are kept; `onMoved` is told how to find where a line begins now.
   * Resolves when that survives a loss of power; never when it fails or the journal is closed before.
   */
  rewrite(how: Rewriting, onMoved: OnMoved): Promise<void> {
    return new Promise((done) => {
      if (this.#closed || this.#broken) return
      this.#rewriting = { how, onMoved, done }
      void this.#flush()
    })
  }

  /** Resolves when all that was appended is on the disk; never, when that fails or the journal is closed before. */
  durable(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#closed || this.#broken) return
      this.#waiting.push(resolve)
      void this.#flush()
    })
  }

  async close(): Promise<void> {
    if (this.#closed) return
    await this.#flush()
    this.#closed = true
    await this.#handle.close()
  }

  /** Closes and deletes: nothing of the run is needed any more. */
  async remove(): Promise<void> {
    this.#lines = []
    this.#queued = 0
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
        const queued = this.#queued
        const lines = this.#lines
        const waiting = this.#waiting
        this.#lines = []
        this.#waiting = []
        if (lines.length > 0) {
          await this.#handle.appendFile(`${lines.join('\n')}\n`)
          this.#written += queued
          this.#queued -= queued
        }
        for (const then of waiting) then()
        if (this.#rewriting) await this.#rewrite(this.#rewriting)
      }
    } catch (error) {
      this.#broken = true
      this.#onFailure(error as Error)
    }
  }

  async #rewrite({ how, onMoved, done }: { how: Rewriting; onMoved: OnMoved; done: () => void }): Promise<void> {
    this.#rewriting = null
    const draft = `${this.file}.draft`
    const handle = await open(draft, FLUSHED | constants.O_TRUNC, 0o600)
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
          if (size > REWRITE_BYTES) await write()
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
      await syncFolder(path.dirname(this.file))
    } catch (error) {
      await handle.close()
      throw error
    }
    await this.#handle.close()
    this.#handle = handle
    const [from, to] = [this.#written, written]
    this.#written = written
    onMoved((position) => {
      // What was not in the file yet comes behind the line that was added.
      if (position >= from) return position - from + to
      return position - (cuts.findLast(({ end }) => end <= position)?.bytes ?? 0)
    })
    done()
  }
}

/** Where a line begins now that began at a position before. */
type OnMoved = (moved: (position: number) => number) => void
