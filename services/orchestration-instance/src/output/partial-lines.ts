import type { OutputStream } from '@slipway/commands'
import type { LineSplitter } from './line-splitter.ts'

/** How long a line must be unfinished before it is shown, and the shortest time between two versions of it. */
const EVERY_MS = 1_000
/** An unchanged line is shown again after this time, for viewers who came later. */
const REPEAT_MS = 10_000
/** A longer line shows its end only. */
const MAX_CHARACTERS = 4_000

const STREAMS = ['stdout', 'stderr'] as const

interface SeenLine {
  number: number
  /** When the line began to be unfinished, and when it was shown, by performance.now(). */
  since: number
  shownAt: number
  shown: string
}

/** Shows unfinished lines, such as progress bars and prompts. */
export class PartialLines {
  readonly #splitters: Readonly<Record<OutputStream, LineSplitter>>
  readonly #show: (stream: OutputStream, text: string) => void
  readonly #seen: Partial<Record<OutputStream, SeenLine>> = {}
  #timer: NodeJS.Timeout | undefined

  constructor(
    splitters: Readonly<Record<OutputStream, LineSplitter>>,
    show: (stream: OutputStream, text: string) => void,
  ) {
    this.#splitters = splitters
    this.#show = show
  }

  /** Call it after each write. */
  note(stream: OutputStream): void {
    const { number, text } = this.#splitters[stream].unfinished
    if (text === '') return
    if (this.#seen[stream]?.number !== number) {
      const now = performance.now()
      this.#seen[stream] = { number, since: now, shownAt: Number.NEGATIVE_INFINITY, shown: '' }
    }
    this.#timer ??= setTimeout(() => this.#tick(), EVERY_MS)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #tick(): void {
    this.#timer = undefined
    const now = performance.now()
    for (const stream of STREAMS) {
      const { number, text } = this.#splitters[stream].unfinished
      const seen = this.#seen[stream]
      if (text === '' || seen?.number !== number) continue
      this.#timer ??= setTimeout(() => this.#tick(), EVERY_MS)
      // A timer may fire a moment early.
      if (now - seen.since < EVERY_MS / 2 || (text === seen.shown && now - seen.shownAt < REPEAT_MS)) continue
      seen.shown = text
      seen.shownAt = now
      this.#show(stream, text.slice(-MAX_CHARACTERS))
    }
  }
}
