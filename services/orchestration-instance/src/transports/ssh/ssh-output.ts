import type { Readable } from 'node:stream'
import { type CommandIo, OutputPump, type OutputStream } from '@slipway/execution'
import type { ClientChannel } from 'ssh2'
import { MarkedOutput } from './marked-output.ts'

/** Reads both output streams of a channel up to their closing marks. */
export class SshOutput {
  readonly #stdout: MarkedOutput
  readonly #stderr: MarkedOutput
  readonly #pumps: OutputPump[]
  readonly #asks: RegExp
  /** Resolves when the command starts. */
  readonly begun: Promise<'begun'>
  #onBegun: () => void = () => {}
  /** Resolves with the folder for the content of files, when the host asks for it. */
  readonly asked: Promise<string>
  #onAsked: (folder: string) => void = () => {}
  /** Resolves when all is read that the command wrote, and handed on. */
  readonly finished: Promise<unknown>

  constructor(channel: ClientChannel, marks: { ready: string; over: string; wants: string }, io: CommandIo) {
    this.#stdout = new MarkedOutput(marks)
    this.#stderr = new MarkedOutput(marks)
    this.begun = new Promise((resolve) => {
      this.#onBegun = () => resolve('begun')
    })
    this.asked = new Promise((resolve) => {
      this.#onAsked = resolve
    })
    this.#asks = new RegExp(`^${marks.wants} (.+)\n`, 'm')
    const streams = [
      this.#read(channel, 'stdout', this.#stdout, io),
      this.#read(channel.stderr, 'stderr', this.#stderr, io),
    ]
    this.#pumps = streams.map(({ pump }) => pump)
    this.finished = Promise.all(streams.map(({ finished }) => finished))
    this.finished.catch(() => {})
  }

  get hasBegun(): boolean {
    return this.#stdout.hasBegun
  }

  /** What the host said instead of running the command. */
  get preamble(): string {
    return `${this.#stderr.preamble}\n${this.#stdout.preamble}`
  }

  /** The command has ended: what comes without a mark from now on is waited for only a moment. */
  ended(): void {
    for (const pump of this.#pumps) pump.ended()
  }

  #lookForQuestion(): void {
    const folder = this.#asks.exec(this.#stdout.preamble)?.[1]
    if (folder !== undefined) this.#onAsked(folder)
  }

  #read(source: Readable, name: OutputStream, output: MarkedOutput, io: CommandIo) {
    const handOn = (bytes: Buffer) => (bytes.length > 0 ? io.onOutput(name, bytes) : undefined)
    const pump = new OutputPump(source, async (chunk) => {
      await handOn(output.take(chunk))
      if (this.#stdout.hasBegun) this.#onBegun()
      else this.#lookForQuestion()
      if (output.isOver) pump.stop()
    })
    const finished = pump.finished.then(async () => {
      await handOn(output.rest())
      // Whatever else comes is nobody's, but has to be read for the channel to close.
      source.resume()
    })
    return { pump, finished }
  }
}
