import { type FileHandle, open, readdir, readFile, rm, truncate } from 'node:fs/promises'
import path from 'node:path'
import { AGENT_FRAME_HEAD, AGENT_FRAME_LIMIT, AGENT_FRAMES, type AgentCommandEnd } from '@slipway/contracts'

/** What is acknowledged goes by whole files, so they are not too large. */
const SEGMENT_BYTES = 4 * 1024 * 1024
const NAME = /^(\d{15})\.spool$/

interface Segment {
  from: number
  file: string
}

/**
 * The output of a command and its end, as frames on this disk, numbered by their bytes. What has been acknowledged is
 * deleted. When more waits than the limit allows, the command has to wait as well. Where the disk does not take it, the
 * rest of the output is lost and the command told of at its end: it goes on all the same.
 */
export class Spool {
  readonly #folder: string
  readonly #limitBytes: number
  readonly #segments: Segment[]
  #handle: FileHandle | null = null
  /** Of all frames on the disk. */
  #end: number
  #acknowledged: number
  #writing: Promise<void> = Promise.resolve()
  readonly #wakes = new Set<() => void>()
  /** Nobody waits for room any more. */
  #hurried = false
  #lost = 0
  #lostTo = ''
  /** The last frames, where the disk does not take them. */
  #unwritten = Buffer.alloc(0)
  /** The end is there. */
  #complete: boolean

  private constructor(folder: string, limitBytes: number, segments: Segment[], end: number, complete: boolean) {
    this.#folder = folder
    this.#limitBytes = limitBytes
    this.#segments = segments
    this.#end = end
    this.#acknowledged = segments[0]?.from ?? 0
    this.#complete = complete
  }

  static async create(folder: string, limitBytes: number): Promise<Spool> {
    const spool = new Spool(folder, limitBytes, [], 0, false)
    await spool.#openSegment()
    return spool
  }

  /** Takes up what an earlier process wrote, without a frame that it did not finish; null where there is nothing. */
  static async restore(folder: string, limitBytes: number): Promise<Spool | null> {
    const segments = (await readdir(folder))
      .flatMap((name): Segment[] => {
        const from = NAME.exec(name)?.[1]
        return from === undefined ? [] : [{ from: Number(from), file: path.join(folder, name) }]
      })
      .sort((a, b) => a.from - b.from)
    const last = segments.at(-1)
    if (!last) return null
    const { bytes, kind } = wholeFrames(await readFile(last.file))
    await truncate(last.file, bytes)
    const spool = new Spool(folder, limitBytes, segments, last.from + bytes, kind === AGENT_FRAMES.end)
    if (!spool.#complete) spool.#handle = await open(last.file, 'a')
    return spool
  }

  get complete(): boolean {
    return this.#complete
  }

  get #total(): number {
    return this.#end + this.#unwritten.length
  }

  /** Adds output. Resolves when there is room for more. */
  add(stream: 'stdout' | 'stderr', chunk: Buffer): Promise<void> {
    return this.#inTurn(async () => {
      for (let from = 0; from < chunk.length; from += AGENT_FRAME_LIMIT) {
        const piece = chunk.subarray(from, from + AGENT_FRAME_LIMIT)
        await this.#room()
        if (this.#lost > 0 || this.#isFull || !(await this.#write(frameOf(AGENT_FRAMES[stream], piece)))) {
          this.#lost += piece.length
        }
      }
    })
  }

  /** Adds the end; on the disk when this resolves. */
  finish(end: AgentCommandEnd): Promise<void> {
    return this.#inTurn(async () => {
      const frames = [frameOf(AGENT_FRAMES.end, Buffer.from(JSON.stringify(end)))]
      if (this.#lost > 0) {
        const why =
          this.#lostTo === '' ? 'more waited than the agent keeps' : `the disk of the target failed (${this.#lostTo})`
        frames.unshift(
          frameOf(AGENT_FRAMES.stderr, Buffer.from(`\n${this.#lost} bytes of the output are lost: ${why}\n`)),
        )
      }
      for (const frame of frames) {
        if (this.#unwritten.length > 0 || !(await this.#write(frame))) {
          this.#unwritten = Buffer.concat([this.#unwritten, frame])
        }
      }
      this.#complete = true
      await this.#handle?.sync().catch(() => {})
      await this.#handle?.close().catch(() => {})
      this.#handle = null
      this.#wake()
    })
  }

  /** The command has no more time: what finds no room is lost. */
  hurry(): void {
    this.#hurried = true
    this.#wake()
  }

  /** Bytes from an offset on, not beyond `limit`; null when it is none that is kept. Frames may be cut. */
  async read(from: number, limit: number): Promise<Buffer | null> {
    if (from > this.#total || from < (this.#segments[0]?.from ?? 0)) return null
    if (from >= this.#end) return this.#unwritten.subarray(from - this.#end, from - this.#end + limit)
    const index = this.#segments.findLastIndex((segment) => segment.from <= from)
    const segment = this.#segments[index] as Segment
    const to = this.#segments[index + 1]?.from ?? this.#end
    const bytes = Buffer.alloc(Math.min(limit, to - from))
    const handle = await open(segment.file, 'r')
    try {
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, from - segment.from)
      return bytes.subarray(0, bytesRead)
    } finally {
      await handle.close()
    }
  }

  /** Everything before the offset is there where it belongs. */
  async acknowledge(offset: number): Promise<void> {
    if (offset <= this.#acknowledged || offset > this.#total) return
    this.#acknowledged = offset
    this.#wake()
    while ((this.#segments[1]?.from ?? Number.POSITIVE_INFINITY) <= offset) {
      const [gone] = this.#segments.splice(0, 1)
      if (gone) await rm(gone.file, { force: true })
    }
  }

  /** Resolves when there is something from this offset on, or after a while. */
  async somethingFrom(offset: number, waitMs: number): Promise<void> {
    const until = performance.now() + waitMs
    while (offset >= this.#total && !this.#complete) {
      const left = until - performance.now()
      if (left <= 0) return
      await this.#changed(left)
    }
  }

  /** Deletes all of it. */
  async remove(): Promise<void> {
    this.hurry()
    await this.#writing
    await this.#handle?.close().catch(() => {})
    this.#handle = null
    await Promise.all(this.#segments.map(({ file }) => rm(file, { force: true })))
  }

  get #isFull(): boolean {
    return this.#end - this.#acknowledged >= this.#limitBytes
  }

  async #room(): Promise<void> {
    while (this.#isFull && !this.#hurried && this.#lost === 0) await this.#changed()
  }

  /** False when the disk does not take it; then nothing of it is there. */
  async #write(frame: Buffer): Promise<boolean> {
    const last = this.#segments.at(-1) as Segment
    try {
      if (this.#end - last.from >= SEGMENT_BYTES) {
        await this.#handle?.close()
        this.#handle = null
      }
      if (!this.#handle) await this.#openSegment()
      await this.#handle?.appendFile(frame)
      this.#end += frame.length
      this.#wake()
      return true
    } catch (error) {
      this.#lostTo = (error as NodeJS.ErrnoException).code ?? 'unknown'
      const current = this.#segments.at(-1) as Segment
      await truncate(current.file, this.#end - current.from).catch(() => {})
      return false
    }
  }

  async #openSegment(): Promise<void> {
    const file = path.join(this.#folder, `${String(this.#end).padStart(15, '0')}.spool`)
    this.#handle = await open(file, 'a', 0o600)
    if (this.#segments.at(-1)?.from !== this.#end) this.#segments.push({ from: this.#end, file })
  }

  #inTurn(task: () => Promise<void>): Promise<void> {
    const done = this.#writing.then(task)
    this.#writing = done.catch(() => {})
    return done
  }

  #wake(): void {
    for (const wake of [...this.#wakes]) wake()
  }

  #changed(limitMs?: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = limitMs === undefined ? undefined : setTimeout(() => wake(), limitMs)
      const wake = () => {
        clearTimeout(timer)
        this.#wakes.delete(wake)
        resolve()
      }
      this.#wakes.add(wake)
    })
  }
}

function frameOf(kind: number, content: Buffer): Buffer {
  const head = Buffer.alloc(AGENT_FRAME_HEAD)
  head.writeUInt8(kind, 0)
  head.writeUInt32BE(content.length, 1)
  return Buffer.concat([head, content])
}

/** How many bytes the whole frames take, and the kind of the last one. */
function wholeFrames(bytes: Buffer): { bytes: number; kind: number } {
  let at = 0
  let kind = 0
  while (at + AGENT_FRAME_HEAD <= bytes.length) {
    const next = at + AGENT_FRAME_HEAD + bytes.readUInt32BE(at + 1)
    if (next > bytes.length) break
    kind = bytes.readUInt8(at)
    at = next
  }
  return { bytes: at, kind }
}
