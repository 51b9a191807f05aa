import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import fs, { constants } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { Socket } from 'node:net'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'

const run = promisify(execFile)
// Plain file descriptors, because the socket and the child own them. A FileHandle closes its descriptor when it is collected.
const open = promisify(fs.open)
const close = promisify(fs.close)

/** How many pipes one call of mkfifo creates. */
const BATCH = 16

export interface Pipe {
  reader: Readable
  /** The file descriptor for the child. Call `closeWriter` when the child has started. */
  writer: number
  closeWriter(): Promise<void>
}

/**
 * Named pipes for the output of commands. The pipes of Node are sockets, and a socket cannot be opened by name. With sockets, a
 * script that writes to /dev/stderr would fail.
 */
export class Fifos {
  readonly #folder: string
  readonly #mode: string
  #ready: string[] = []
  #making: Promise<void> | null = null

  /** `othersMayWrite` is safe: an open pipe has no name, so only its own command can open it. */
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
    // Open the reader first and non-blocking. Then the blocking open of the writer returns at once.
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
