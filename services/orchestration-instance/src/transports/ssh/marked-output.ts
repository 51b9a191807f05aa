/** No greeting of a login shell is longer. */
const MAX_PREAMBLE = 64 * 1024

/** Cuts a command's own output out of a stream: what stands between two marks. */
export class MarkedOutput {
  readonly #ready: string
  readonly #over: Buffer
  #state: 'before' | 'within' | 'after' = 'before'
  /** Before: all that came. Within: what may be the beginning of the closing mark. */
  #held: Buffer = Buffer.alloc(0)

  constructor(marks: { ready: string; over: string }) {
    this.#ready = `${marks.ready}\n`
    this.#over = Buffer.from(`${marks.over}\n`)
  }

  get hasBegun(): boolean {
    return this.#state !== 'before'
  }

  get isOver(): boolean {
    return this.#state === 'after'
  }

  /** What came before the first mark, for as long as there is none. */
  get preamble(): string {
    return this.#state === 'before' ? this.#held.toString('utf8') : ''
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
    this.#held = Buffer.alloc(0)
    if (at >= 0) {
      this.#state = 'within'
      return this.#takeWithin(bytes.subarray(at + this.#ready.length))
    }
    this.#held = bytes.subarray(-MAX_PREAMBLE)
    return Buffer.alloc(0)
  }

  #takeWithin(bytes: Buffer): Buffer {
    const at = bytes.indexOf(this.#over)
    if (at >= 0) {
      this.#state = 'after'
      return bytes.subarray(0, at)
    }
    const kept = this.#beginningOfMark(bytes)
    this.#held = bytes.subarray(bytes.length - kept)
    return bytes.subarray(0, bytes.length - kept)
  }

  /** How many bytes at the end could become the mark with what comes next. */
  #beginningOfMark(bytes: Buffer): number {
    for (let length = Math.min(this.#over.length - 1, bytes.length); length > 0; length--) {
      if (bytes.subarray(bytes.length - length).equals(this.#over.subarray(0, length))) return length
    }
    return 0
  }
}
