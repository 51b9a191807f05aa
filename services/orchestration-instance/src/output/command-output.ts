import type { OutputStream } from '@slipway/execution'
import { LineSplitter, type OutputLine } from './line-splitter.ts'
import type { Masker } from './masking.ts'
import { OutputLimit, type OutputLimitOptions } from './output-limit.ts'
import { Tail } from './tail.ts'

/**
 * A line whose end may be the first characters of a secret is kept back for this long at most. Otherwise the last line
 * before a pause would be shown only after the pause.
 */
const KEEP_MS = 250

const STREAMS = ['stdout', 'stderr'] as const

/** The output of one attempt of a command: passes on its lines, up to a limit, and keeps the ends of both streams. */
export class CommandOutput {
  readonly #splitters: Record<OutputStream, LineSplitter>
  readonly #tails: Record<OutputStream, Tail> = { stdout: new Tail(), stderr: new Tail() }
  readonly #limit: OutputLimit
  #release: NodeJS.Timeout | undefined

  constructor(masker: Masker, options: OutputLimitOptions) {
    this.#splitters = { stdout: new LineSplitter(masker), stderr: new LineSplitter(masker) }
    this.#limit = new OutputLimit(options)
  }

  write(stream: OutputStream, chunk: Buffer): void {
    const splitter = this.#splitters[stream]
    this.#handOn(stream, splitter.write(chunk))
    if (splitter.keepsLine) this.#release ??= setTimeout(() => this.#releaseLines(), KEEP_MS)
  }

  end(): void {
    this.abandon()
    for (const stream of STREAMS) this.#handOn(stream, this.#splitters[stream].end())
    this.#limit.end()
  }

  /** No line is handed on any more. */
  abandon(): void {
    clearTimeout(this.#release)
  }

  tail(stream: OutputStream): string {
    return this.#tails[stream].text
  }

  #releaseLines(): void {
    this.#release = undefined
    for (const stream of STREAMS) this.#handOn(stream, this.#splitters[stream].release())
  }

  #handOn(stream: OutputStream, lines: OutputLine[]): void {
    for (const line of lines) {
      this.#tails[stream].addLine(line.text)
      this.#limit.add(stream, line)
    }
  }
}
