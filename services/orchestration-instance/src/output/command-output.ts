import type { OutputStream } from '@slipway/commands'
import { LineSplitter, type OutputLine } from './line-splitter.ts'
import type { Masker } from './masking.ts'
import { OutputLimit, type OutputLimitOptions } from './output-limit.ts'
import { PartialLines } from './partial-lines.ts'
import { Tail } from './tail.ts'

/**
 * The longest time that a line is held back because its end may be the start of a secret. Without this limit, the last line
 * before a pause would appear only after the pause.
 */
const HOLD_MS = 250

const STREAMS = ['stdout', 'stderr'] as const

interface CommandOutputOptions extends OutputLimitOptions {
  /** Receives the text of a line that is unfinished for a second. The line comes with `onLine` when it is finished. */
  onPartialLine(stream: OutputStream, text: string): void
}

/** The output of one attempt of a command: passes on its lines up to a limit, and keeps the end of each stream. */
export class CommandOutput {
  readonly #splitters: Record<OutputStream, LineSplitter>
  readonly #tails: Record<OutputStream, Tail> = { stdout: new Tail(), stderr: new Tail() }
  readonly #limit: OutputLimit
  readonly #partialLines: PartialLines
  #releaseTimer: NodeJS.Timeout | undefined

  constructor(masker: Masker, options: CommandOutputOptions) {
    this.#splitters = { stdout: new LineSplitter(masker), stderr: new LineSplitter(masker) }
    this.#limit = new OutputLimit(options)
    this.#partialLines = new PartialLines(this.#splitters, options.onPartialLine)
  }

  /** Masks until the deadline, by performance.now(). Returns whether another write must go on with it. */
  write(stream: OutputStream, chunk: Uint8Array, deadline?: number): boolean {
    const splitter = this.#splitters[stream]
    this.#passOn(stream, splitter.write(chunk, deadline))
    if (splitter.holdsLine) this.#releaseTimer ??= setTimeout(() => this.#releaseLines(), HOLD_MS)
    this.#partialLines.note(stream)
    return splitter.isBehind
  }

  end(): void {
    this.abandon()
    for (const stream of STREAMS) this.#passOn(stream, this.#splitters[stream].end())
    this.#limit.end()
  }

  abandon(): void {
    clearTimeout(this.#releaseTimer)
    this.#partialLines.stop()
  }

  tail(stream: OutputStream): string {
    return this.#tails[stream].text
  }

  #releaseLines(): void {
    this.#releaseTimer = undefined
    for (const stream of STREAMS) this.#passOn(stream, this.#splitters[stream].release())
  }

  #passOn(stream: OutputStream, lines: OutputLine[]): void {
    for (const line of lines) {
      this.#tails[stream].addLine(line.text)
      this.#limit.add(stream, line)
    }
  }
}
