import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CommandIo, OutputStream } from '@slipway/commands'
import { TIMED_OUT, withTimeout } from '@slipway/runtime'
import type { ChannelReader } from './channel-reader.ts'
import { MarkedOutput } from './marked-output.ts'

/** How long to wait for output after the end of a command. A daemon may keep the streams open without limit. */
const AFTER_END_MS = 200
/** Pipes and windows hold less than this. Later bytes were written after the end of the command. */
const AFTER_END_BYTES = 4 * 1024 * 1024

/** The output of one command on both streams of a channel. */
export class SshOutput {
  readonly #reader: ChannelReader
  readonly #io: CommandIo
  readonly #outputs: Readonly<Record<OutputStream, MarkedOutput>>
  readonly #mark: string
  #bytes = 0
  #pendingWrites = 0
  /** Resolves when the command starts. */
  readonly begun: Promise<'begun'>
  #onBegun: () => void = () => {}
  /** Resolves with the folder for the content of files, when the host asks for it. */
  readonly asked: Promise<string>
  #onAsked: (folder: string) => void = () => {}
  /** Resolves when the host has reported the end or the failed start. Rejects when the sink fails. */
  readonly over: Promise<'over'>
  #onOver: () => void = () => {}
  #onFailure: (error: unknown) => void = () => {}
  readonly #complete: Promise<void>
  #onComplete: () => void = () => {}
  readonly #discarded: Promise<void>
  #onDiscarded: () => void = () => {}

  constructor(reader: ChannelReader, mark: string, io: CommandIo) {
    this.#reader = reader
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
    // Prevents an unhandled rejection after the caller has stopped waiting.
    this.over.catch(() => {})
    this.#complete = new Promise((resolve) => {
      this.#onComplete = resolve
    })
    this.#discarded = new Promise((resolve) => {
      this.#onDiscarded = resolve
    })
    reader.sink = (stream, chunk) => this.#take(stream, chunk)
    void reader.ended.then(() => this.#onComplete())
  }

  get hasBegun(): boolean {
    return this.#outputs.stdout.hasBegun
  }

  /** The reported end of the command; null before its end. */
  get ending(): string | null {
    return this.#outputs.stdout.isOver ? this.#outputs.stdout.ending : null
  }

  /** The reported reason why the command did not start, or null. */
  get problem(): string | null {
    return this.#said('failed')
  }

  /** Other output of the host, if the command did not start. */
  get preamble(): string {
    return `${this.#outputs.stderr.preamble}\n${this.#outputs.stdout.preamble}`
  }

  /** Ends all waits for the sink. */
  discard(): void {
    this.#onDiscarded()
  }

  /** Resolves when all output of the ended command is read and passed on. */
  async finish(): Promise<void> {
    const limit = this.#bytes + AFTER_END_BYTES
    let complete = this.#isComplete
    for (let seen = -1; !complete && (seen !== this.#bytes || this.#pendingWrites > 0) && this.#bytes < limit; ) {
      seen = this.#bytes
      complete = (await withTimeout(AFTER_END_MS, this.#complete)) !== TIMED_OUT
      // A timer may fire before arrived bytes are read, if the process was busy. Read them first.
      await nextTurn()
    }
    this.#reader.sink = null
    for (const stream of ['stdout', 'stderr'] as const) {
      const rest = this.#outputs[stream].rest()
      if (rest.length > 0) await this.#io.onOutput(stream, rest)
    }
  }

  /** The mark on one stream may be read while the sink still takes the last bytes of the other. */
  get #isComplete(): boolean {
    return this.#outputs.stdout.isOver && this.#outputs.stderr.isOver && this.#pendingWrites === 0
  }

  #take(stream: OutputStream, chunk: Buffer): void | Promise<void> {
    this.#bytes += chunk.length
    const output = this.#outputs[stream]
    const bytes = output.add(chunk)
    if (bytes.length === 0) return this.#checkState(output)
    return this.#passOn(stream, bytes).then(() => this.#checkState(output))
  }

  async #passOn(stream: OutputStream, bytes: Buffer): Promise<void> {
    this.#pendingWrites += 1
    try {
      await Promise.race([this.#io.onOutput(stream, bytes), this.#discarded])
    } catch (error) {
      this.#onFailure(error)
    } finally {
      this.#pendingWrites -= 1
    }
  }

  #checkState(output: MarkedOutput): void {
    if (output === this.#outputs.stdout) {
      if (output.hasBegun) this.#onBegun()
      else {
        const folder = this.#said('wants')
        if (folder !== null) this.#onAsked(folder)
      }
      if (output.isOver) this.#onOver()
    }
    if (this.#isComplete) this.#onComplete()
  }

  /** The text after the mark and this word. A greeting without a newline may precede the mark. */
  #said(word: string): string | null {
    const { preamble } = this.#outputs.stdout
    const start = `${this.#mark} ${word} `
    const at = preamble.indexOf(start)
    const end = preamble.indexOf('\n', at)
    return at < 0 || end < 0 ? null : preamble.slice(at + start.length, end)
  }
}
