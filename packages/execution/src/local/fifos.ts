import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import fs, { constants } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { Socket } from 'node:net'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'

const run = promisify(execFile)
// Plain descriptors: their owners are the socket and the child, while a FileHandle would close its own when collected.
const open = promisify(fs.open)
const close = promisify(fs.close)

/** How many are made by one call of mkfifo. */
const BATCH = 16

export interface Pipe {
  reader: Readable
  /** File descriptor for the child; `closeWriter` as soon as it has it. */
  writer: number
  closeWriter(): Promise<void>
}

/**
 * Real pipes for the output of commands. Node gives its children sockets, and a socket cannot be opened by name: a
 * script that writes to /dev/stderr would fail.
 */
export class Fifos {
  readonly #folder: string
  readonly #mode: string
  #ready: string[] = []
  #making: Promise<void> | null = null

  /** Whoever `othersMayWrite` lets write still has to be given the pipe: it has no name once it is open. */
  constructor(folder: string, { othersMayWrite }: { othersMayWrite: boolean }) {
    this.#folder = folder
    this.#mode = othersMayWrite ? '622' : '600'
  }

  async open(): Promise<Pipe> {
    let file = this.#ready.pop()
    while (file === undefined) {
      this.#making ??= this.#make().finally(() => {
        this.#making = null
      })
      await this.#making
      file = this.#ready.pop()
    }
    // Reader first, and without waiting for a writer: then the writer, that is to write blocking, opens at once.
    const reader = await open(file, constants.O_RDONLY | constants.O_NONBLOCK)
    const writer = await open(file, constants.O_WRONLY)
    await unlink(file)
    return {
      reader: new Socket({ fd: reader, readable: true, writable: false }),
      writer,
      closeWriter: () => close(writer),
    }
  }

  async #make(): Promise<void> {
    const files = Array.from({ length: BATCH }, () => path.join(this.#folder, `fifo-${randomUUID()}`))
    await run('mkfifo', ['-m', this.#mode, ...files])
    this.#ready.push(...files)
  }
}
