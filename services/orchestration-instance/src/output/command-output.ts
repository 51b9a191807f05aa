import type { OutputStream } from '@slipway/execution'
import { LineSplitter, type OutputLine } from './line-splitter.ts'
import type { Masker } from './masking.ts'
import { OutputLimit, type OutputLimitOptions } from './output-limit.ts'
import { Tail } from './tail.ts'

/** The output of one try of a command: hands on its lines, up to a limit, and keeps the ends of both streams. */
export class CommandOutput {
  readonly #splitters: Record<OutputStream, LineSplitter>
  readonly #tails: Record<OutputStream, Tail> = { stdout: new Tail(), stderr: new Tail() }
  readonly #limit: OutputLimit

  constructor(masker: Masker, options: OutputLimitOptions) {
    this.#splitters = { stdout: new LineSplitter(masker), stderr: new LineSplitter(masker) }
    this.#limit = new OutputLimit(options)
  }

  write(stream: OutputStream, chunk: Buffer): void {
    this.#handOn(stream, this.#splitters[stream].write(chunk))
  }

  end(): void {
    for (const stream of ['stdout', 'stderr'] as const) this.#handOn(stream, this.#splitters[stream].end())
    this.#limit.end()
  }

  tail(stream: OutputStream): string {
    return this.#tails[stream].text
  }

  #handOn(stream: OutputStream, lines: OutputLine[]): void {
    for (const line of lines) {
      this.#tails[stream].addLine(line.text)
      this.#limit.add(stream, line)
    }
  }
}
