/** The limit of the greeting of a login shell. */
const MAX_PREAMBLE = 64 * 1024
/** The limit of a closing line. A line without end counts as complete at this length. */
const MAX_ENDING = 64

/** Extracts the output of a command from a stream: the bytes between two lines that start with a mark. */
export class MarkedOutput {
  readonly #ready: string
  readonly #over: Buffer
  #state: 'before' | 'within' | 'after' = 'before'
  /** Before the output: all bytes so far. Within the output: a possible start of the closing line. */
  #held: Buffer = Buffer.alloc(0)
  #ending = ''

  constructor(mark: string) {
    this.#ready = `${mark} ready\n`
    this.#over = Buffer.from(`${mark} over`)
  }

  hasBegun = false

  get isOver(): boolean {
    return this.#state === 'after'
  }

  /** The closing line without its mark. */
  get ending(): string {
    return this.#ending
  }

  /** The bytes so far, if the first mark has not arrived. */
  get preamble(): string {
    return this.hasBegun ? '' : this.#held.toString('utf8')
  }

  /** Returns the output of the command in the chunk, possibly empty. */
  add(chunk: Buffer): Buffer {
    if (this.#state === 'after') return Buffer.alloc(0)
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    return this.#state === 'before' ? this.#takeBefore(bytes) : this.#takeWithin(bytes)
  }

  /** The bytes that were held back when the stream ended without a mark. */
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
    const kept = this.#partOfMark(bytes)
    this.#held = bytes.subarray(bytes.length - kept)
    return bytes.subarray(0, bytes.length - kept)
  }

  #close(line: string): void {
    this.#state = 'after'
    this.#ending = line.trim()
  }

  /** Finds the start of the closing line, and the rest of that line once it is complete. */
  #findOver(bytes: Buffer): { at: number; line?: string } | null {
    const at = bytes.indexOf(this.#over)
    if (at < 0) return null
    const from = at + this.#over.length
    const end = bytes.indexOf('\n', from)
    if (end < 0) return bytes.length - from > MAX_ENDING ? { at, line: '' } : { at }
    return { at, line: bytes.toString('latin1', from, end) }
  }

  /** The number of bytes at the end that may start the mark. */
  #partOfMark(bytes: Buffer): number {
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
