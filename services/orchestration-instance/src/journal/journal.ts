import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import type { Header } from './records.ts'

/** How long lines that nobody waits for are gathered for one write. */
const GATHER_MS = 5

/**
 * Appends lines to a run's file. Writes and flushes of many lines are one. A failing disk is reported once by
 * `onFailure`; from then on nothing counts as durable any more.
 */
export class Journal {
  readonly file: string
  readonly #handle: FileHandle
  readonly #onFailure: (error: Error) => void
  #lines: string[] = []
  #waiting: (() => void)[] = []
  #writing: Promise<void> | null = null
  #timer: NodeJS.Timeout | null = null
  #broken = false
  #closed = false

  private constructor(file: string, handle: FileHandle, onFailure: (error: Error) => void) {
    this.file = file
    this.#handle = handle
    this.#onFailure = onFailure
  }

  /** Makes the file with its first line. When this resolves, it survives a loss of power. */
  static async create(file: string, header: Header, onFailure: (error: Error) => void): Promise<Journal> {
    // Under another name until it is whole: a journal without its first line is none.
    const draft = `${file}.draft`
    const handle = await open(draft, 'w', 0o600)
    try {
      await handle.write(`${JSON.stringify(header)}\n`)
      await handle.datasync()
      await rename(draft, file)
      await syncFolder(path.dirname(file))
    } catch (error) {
      await handle.close()
      throw error
    }
    return new Journal(file, handle, onFailure)
  }

  /** Goes on behind `length`, the end of the last whole line: a torn one is cut off. */
  static async reopen(file: string, length: number, onFailure: (error: Error) => void): Promise<Journal> {
    const handle = await open(file, 'a', 0o600)
    await handle.truncate(length)
    return new Journal(file, handle, onFailure)
  }

  /** Adds a line. `then` is called when it, and all before it, are on the disk. */
  append(line: string, then?: () => void): void {
    if (this.#closed || this.#broken) return
    this.#lines.push(line)
    if (then) this.#waiting.push(then)
    this.#timer ??= setTimeout(() => void this.#flush(), GATHER_MS)
  }

  /** Adds a line that may be lost: it is written together with the next one. */
  appendLater(line: string): void {
    if (!this.#closed && !this.#broken) this.#lines.push(line)
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
    await this.close()
    await rm(this.file, { force: true })
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
      while (!this.#broken && !this.#closed && this.#lines.length + this.#waiting.length > 0) {
        const lines = this.#lines
        const waiting = this.#waiting
        this.#lines = []
        this.#waiting = []
        if (lines.length > 0) {
          await this.#handle.appendFile(`${lines.join('\n')}\n`)
          await this.#handle.datasync()
        }
        for (const then of waiting) then()
      }
    } catch (error) {
      this.#broken = true
      this.#onFailure(error as Error)
    }
  }
}

/** A file that was made or deleted is so for good only when its folder is on the disk as well. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
