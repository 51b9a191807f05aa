import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CommandIo, OutputStream } from '@slipway/execution'
import type { ChannelReader } from './channel-reader.ts'
import { MarkedOutput } from './marked-output.ts'

/** How long to wait for output after the end of a command. A daemon may hold the streams open without limit. */
const AFTER_END_MS = 200
/** More than pipes and windows hold: what comes later was written after the command's end. */
const AFTER_END_BYTES = 4 * 1024 * 1024

export type ChannelReaders = Readonly<Record<OutputStream, ChannelReader>>

/** One command's part of both output streams of a channel. */
export class SshOutput {
  readonly #readers: ChannelReaders
  readonly #io: CommandIo
  readonly #outputs: Readonly<Record<OutputStream, MarkedOutput>>
  readonly #mark: string
  #bytes = 0
  #taking = 0
  /** Resolves when the command starts. */
  readonly begun: Promise<'begun'>
  #onBegun: () => void = () => {}
  /** Resolves with the folder for the content of files, when the host asks for it. */
  readonly asked: Promise<string>
  #onAsked: (folder: string) => void = () => {}
  /** Resolves when the host has said how the command ended, or why it did not start. Rejects when its output cannot be taken. */
  readonly over: Promise<'over'>
  #onOver: () => void = () => {}
  #onFailure: (error: unknown) => void = () => {}
  readonly #complete: Promise<true>
  #onComplete: () => void = () => {}
  readonly #discarded: Promise<void>
  #onDiscarded: () => void = () => {}

  constructor(readers: ChannelReaders, mark: string, io: CommandIo) {
    this.#readers = readers
    this.#io = io
    this.#outputs = { stdout: new MarkedOutput(mark), stderr: new MarkedOutput(mark) }
    this.#mark = mark
    this.begun = new Promise((resolve) => {
      this.#onBegun = () => resolve('begun')
    })
    this.asked = new Promise((resolve) => {
      this.#onAsked = resolve
    })
    this.over = new Promise((resolve, reject) => {
      this.#onOver = () => resolve('over')
      this.#onFailure = reject
    })
    // It may fail when nobody waits for it any more.
    this.over.catch(() => {})
    this.#complete = new Promise((resolve) => {
      this.#onComplete = () => resolve(true)
    })
    this.#discarded = new Promise((resolve) => {
      this.#onDiscarded = resolve
    })
    readers.stdout.sink = (chunk) => this.#take('stdout', chunk)
    readers.stderr.sink = (chunk) => this.#take('stderr', chunk)
    void Promise.all([readers.stdout.ended, readers.stderr.ended]).then(() => this.#onComplete())
  }

  get hasBegun(): boolean {
    return this.#outputs.stdout.hasBegun
  }

  /** How the host reported the end of the command; null before. */
  get ending(): string | null {
    return this.#outputs.stdout.isOver ? this.#outputs.stdout.ending : null
  }

  /** Why the host did not start the command; null if it did, or gave no reason. */
  get problem(): string | null {
    return this.#said('failed')
  }

  /** Other output of the host, if the command did not start. */
  get preamble(): string {
    return `${this.#outputs.stderr.preamble}\n${this.#outputs.stdout.preamble}`
  }

  /** The command no longer waits for its sink. */
  discard(): void {
    this.#onDiscarded()
  }

  /** Resolves when all output of the ended command is read and passed on. */
  async finish(): Promise<void> {
    const limit = this.#bytes + AFTER_END_BYTES
    let complete = this.#isComplete
    for (let seen = -1; !complete && (seen !== this.#bytes || this.#taking > 0) && this.#bytes < limit; ) {
      seen = this.#bytes
      complete = await this.#completeWithin(AFTER_END_MS)
      // Timers come before what has arrived: a process that had no turn for so long has not looked yet.
      await nextTurn()
    }
    for (const stream of ['stdout', 'stderr'] as const) {
      this.#readers[stream].sink = null
      const rest = this.#outputs[stream].rest()
      if (rest.length > 0) await this.#io.onOutput(stream, rest)
    }
  }

  get #isComplete(): boolean {
    return this.#outputs.stdout.isOver && this.#outputs.stderr.isOver
  }

  async #completeWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), ms)
    })
    return Promise.race([this.#complete, late]).finally(() => clearTimeout(timer))
  }

  #take(stream: OutputStream, chunk: Buffer): void | Promise<void> {
    this.#bytes += chunk.length
    const output = this.#outputs[stream]
    const bytes = output.take(chunk)
    if (bytes.length === 0) return this.#look(output)
    return this.#handOn(stream, bytes).then(() => this.#look(output))
  }

  async #handOn(stream: OutputStream, bytes: Buffer): Promise<void> {
    this.#taking += 1
    try {
      await Promise.race([this.#io.onOutput(stream, bytes), this.#discarded])
    } catch (error) {
      this.#onFailure(error)
    } finally {
      this.#taking -= 1
    }
  }

  #look(output: MarkedOutput): void {
    const { stdout } = this.#outputs
    if (stdout.hasBegun) this.#onBegun()
    else if (output === stdout) {
      const folder = this.#said('wants')
      if (folder !== null) this.#onAsked(folder)
    }
    if (stdout.isOver) this.#onOver()
    if (this.#isComplete) this.#onComplete()
  }

  /** What stands behind the mark and this word. A greeting that ends without a newline may stand before it. */
  #said(word: string): string | null {
    const { preamble } = this.#outputs.stdout
    const start = `${this.#mark} ${word} `
    const at = preamble.indexOf(start)
    const end = preamble.indexOf('\n', at)
    return at < 0 || end < 0 ? null : preamble.slice(at + start.length, end)
  }
}
