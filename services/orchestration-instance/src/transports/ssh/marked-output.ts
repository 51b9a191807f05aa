/** No greeting of a login shell is longer. */
const MAX_PREAMBLE = 64 * 1024
/** No closing line is longer; on one that never ends nobody waits. */
const MAX_ENDING = 64

/** Cuts a command's own output out of a stream: what stands between two lines that begin with a mark. */
export class MarkedOutput {
  readonly #ready: string
  readonly #over: Buffer
  #state: 'before' | 'within' | 'after' = 'before'
  /** Before: all that came. Within: what may be the beginning of the closing line. */
  #held: Buffer = Buffer.alloc(0)
  #ending = ''

  constructor(mark: string) {
    this.#ready = `${mark} ready\n`
    this.#over = Buffer.from(`${mark} over`)
  }

  /** The command has started. */
  hasBegun = false

  get isOver(): boolean {
    return this.#state === 'after'
  }

  /** What the closing line says of the command's end. */
  get ending(): string {
    return this.#ending
  }

  /** What came before the first mark, for as long as there is none. */
  get preamble(): string {
    return this.hasBegun ? '' : this.#held.toString('utf8')
  }

  /** The part of the chunk that is the command's; it may be empty. */
  take(chunk: Buffer): Buffer {
    if (this.#state === 'after') return Buffer.alloc(0)
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    return this.#state === 'before' ? this.#takeBefore(bytes) : this.#takeWithin(bytes)
  }

  /** What was held back when the stream ended without a mark. */
  rest(): Buffer {
    return this.#state === 'within' ? this.#held : Buffer.alloc(0)
  }

  #takeBefore(bytes: Buffer): Buffer {
    const at = bytes.indexOf(this.#ready)
    if (at >= 0) {
      this.#state = 'within'
      this.hasBegun = true
      this.#held = Buffer.alloc(0)
      return this.#takeWithin(bytes.subarray(at + this.#ready.length))
    }
    const over = this.#findOver(bytes)
    if (over?.line !== undefined) this.#close(over.line)
    this.#held = bytes.subarray(-MAX_PREAMBLE)
    return Buffer.alloc(0)
  }

  #takeWithin(bytes: Buffer): Buffer {
    const over = this.#findOver(bytes)
    if (over) {
      this.#held = bytes.subarray(over.at)
      if (over.line !== undefined) this.#close(over.line)
      return bytes.subarray(0, over.at)
    }
    const kept = this.#beginningOfMark(bytes)
    this.#held = bytes.subarray(bytes.length - kept)
    return bytes.subarray(0, bytes.length - kept)
  }

  #close(line: string): void {
    this.#state = 'after'
    this.#ending = line.trim()
  }

  /** Where the closing line begins, and what follows on it once it is there as a whole. */
  #findOver(bytes: Buffer): { at: number; line?: string } | null {
    const at = bytes.indexOf(this.#over)
    if (at < 0) return null
    const from = at + this.#over.length
    const end = bytes.indexOf('\n', from)
    if (end < 0) return bytes.length - from > MAX_ENDING ? { at, line: '' } : { at }
    return { at, line: bytes.toString('latin1', from, end) }
  }

  /** How many bytes at the end could become the mark with what comes next. */
  #beginningOfMark(bytes: Buffer): number {
    const first = this.#over[0] as number
    for (
      let at = bytes.indexOf(first, Math.max(0, bytes.length - this.#over.length + 1));
      at >= 0;
      at = bytes.indexOf(first, at + 1)
    ) {
      if (this.#over.subarray(0, bytes.length - at).equals(bytes.subarray(at))) return bytes.length - at
    }
    return 0
  }
}
