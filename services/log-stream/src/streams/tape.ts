import type { StoredLine } from '@slipway/contracts'
import { logFrame, type Places } from './frames.ts'

/** Log lines as frames, one after the other in one buffer. */
export interface LineFrames {
  firstLine: number
  nextLine: number
  bytes: Buffer
  /** Where each line begins, and where the last ends. */
  offsets: Uint32Array
}

export function encodeLines(places: Places, firstLine: number, lines: readonly StoredLine[]): LineFrames {
  const frames = lines.map((line, n) => logFrame(places, line, firstLine + n))
  const bytes = Buffer.from(frames.join(''))
  const offsets = new Uint32Array(lines.length + 1)
  for (const [n, text] of frames.entries()) offsets[n + 1] = (offsets[n] ?? 0) + Buffer.byteLength(text)
  return { firstLine, nextLine: firstLine + lines.length, bytes, offsets }
}

/** The frames from this line on, and of those the ones below `upTo`. */
export function fromLine(
  { firstLine, bytes, offsets }: LineFrames,
  line: number,
  upTo = Number.MAX_SAFE_INTEGER,
): Buffer {
  const at = (of: number) => offsets[Math.min(Math.max(0, of - firstLine), offsets.length - 1)]
  return bytes.subarray(at(line), at(upTo))
}

/** One change of a deployment, encoded once for all who watch: what began, the lines, what ended. */
export interface TapeEntry {
  seq: number
  before: Buffer
  lines: LineFrames
  after: Buffer
  /** These three in one, for all who are where it begins. */
  whole: Buffer
  /** How many changes of state have been told after it. */
  transitions: number
  /** Of all entries up to and with this one. */
  totalBytes: number
}

/** Of what is no longer on the tape the database has the lines, and the mirror the rest. */
const MAX_BYTES = 1024 * 1024

/** The latest changes of a deployment. Bounded: who is further behind reads the database. */
export class Tape {
  #entries: TapeEntry[] = []
  #bytes = 0
  /** Of all that ever was on it: the difference to a reader's is how far it is behind. */
  totalBytes = 0

  append({ before, lines, after, ...rest }: Omit<TapeEntry, 'whole' | 'totalBytes'>): void {
    const whole = Buffer.concat([before, lines.bytes, after])
    this.totalBytes += whole.length
    this.#bytes += whole.length
    // Its parts are views: the bytes are kept once.
    const [from, to] = [before.length, before.length + lines.bytes.length]
    this.#entries.push({
      ...rest,
      before: whole.subarray(0, from),
      lines: { ...lines, bytes: whole.subarray(from, to) },
      after: whole.subarray(to),
      whole,
      totalBytes: this.totalBytes,
    })
    while (this.#bytes > MAX_BYTES && this.#entries.length > 1) {
      const oldest = this.#entries.shift()
      if (oldest) this.#bytes -= oldest.whole.length
    }
  }

  clear(): void {
    this.#entries = []
    this.#bytes = 0
  }

  /** The entry that follows change `seq`, if the tape still has it. Numbers on the tape have no gaps. */
  after(seq: number): TapeEntry | undefined {
    const first = this.#entries[0]
    return first === undefined || seq + 1 < first.seq ? undefined : this.#entries[seq + 1 - first.seq]
  }
}
