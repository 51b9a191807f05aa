import type { StoredLine } from '@slipway/contracts'
import { logFrame, type PlanIndex } from './frames.ts'

/** Log lines as frames in one buffer. */
export interface LineFrames {
  firstLine: number
  nextLine: number
  bytes: Buffer
  /** The beginning of each line, and the end of the last. */
  offsets: Uint32Array
}

export function encodeLines(places: PlanIndex, firstLine: number, lines: readonly StoredLine[]): LineFrames {
  const frames = lines.map((line, n) => logFrame(places, line, firstLine + n))
  const bytes = Buffer.from(frames.join(''))
  const offsets = new Uint32Array(lines.length + 1)
  for (const [n, text] of frames.entries()) offsets[n + 1] = (offsets[n] ?? 0) + Buffer.byteLength(text)
  return { firstLine, nextLine: firstLine + lines.length, bytes, offsets }
}

/** The frames from `line` on that are below `upTo`. */
export function fromLine(
  { firstLine, bytes, offsets }: LineFrames,
  line: number,
  upTo = Number.MAX_SAFE_INTEGER,
): Buffer {
  const at = (of: number) => offsets[Math.min(Math.max(0, of - firstLine), offsets.length - 1)]
  return bytes.subarray(at(line), at(upTo))
}

/** One change of a deployment, encoded once for all clients: steps that began, lines, steps that ended. */
export interface EncodedChange {
  seq: number
  before: Buffer
  lines: LineFrames
  after: Buffer
  /** The three buffers as one, for clients that begin here. */
  whole: Buffer
  /** How many state changes clients have after this entry. */
  transitions: number
  /** The bytes of all entries up to this one. */
  totalBytes: number
}

/** Beyond this, lines come from the database and everything else from the known state. */
const MAX_BYTES = 1024 * 1024

/** The latest changes of a deployment. The size is bounded: a client that is further behind reads the database. */
export class RecentFrames {
  #entries: EncodedChange[] = []
  #bytes = 0
  /** The bytes of all entries ever added. The difference to an entry tells how far a client is behind. */
  totalBytes = 0

  append({ before, lines, after, ...rest }: Omit<EncodedChange, 'whole' | 'totalBytes'>): void {
    const whole = Buffer.concat([before, lines.bytes, after])
    this.totalBytes += whole.length
    this.#bytes += whole.length
    // The parts are views of one buffer.
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

  /** The entry after change `seq`, if it is still among the recent frames. The numbers of the recent frames have no gaps. */
  after(seq: number): EncodedChange | undefined {
    const first = this.#entries[0]
    return first === undefined || seq + 1 < first.seq ? undefined : this.#entries[seq + 1 - first.seq]
  }
}
