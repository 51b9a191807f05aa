import { type FileHandle, open, readdir, readFile, rm, truncate } from 'node:fs/promises'
import path from 'node:path'
import { AGENT_FRAME_HEAD, AGENT_FRAME_LIMIT, AGENT_FRAMES, type AgentCommandEnd } from '@slipway/contracts'

/** Acknowledged output is deleted in whole files of about this size. */
const SEGMENT_BYTES = 4 * 1024 * 1024
const NAME = /^(\d{15})\.spool$/

interface Segment {
  from: number
  file: string
}

/**
 * The output and the end of a command, as frames on the disk. An offset is the number of bytes before it. Acknowledged bytes
 * are deleted. If more bytes wait than the limit allows, the command has to wait. If a write fails, the rest of the output is
 * lost, the command continues, and its output ends with a line about the loss.
 */
export class Spool {
  readonly #folder: string
  readonly #limitBytes: number
  readonly #segments: Segment[]
  #handle: FileHandle | null = null
  /** The offset after the last frame on the disk. */
  #end: number
  #acknowledged: number
  #writing: Promise<void> = Promise.resolve()
  readonly #wakes = new Set<() => void>()
  /** Whether output that finds no space is dropped at once. */
  #dropsExcess = false
  #lostBytes = 0
  #writeError = ''
  /** The last frames, if they could not be written. */
  #unwritten = Buffer.alloc(0)
  /** Whether the end frame was added. */
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

  /** Opens the files of an earlier process, without an incomplete last frame; null without files. */
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

  /** Adds output. Resolves when more output may be added. */
  add(stream: 'stdout' | 'stderr', chunk: Buffer): Promise<void> {
    return this.#inTurn(async () => {
      for (let from = 0; from < chunk.length; from += AGENT_FRAME_LIMIT) {
        const piece = chunk.subarray(from, from + AGENT_FRAME_LIMIT)
        await this.#waitForSpace()
        if (this.#lostBytes > 0 || this.#isFull || !(await this.#write(frameOf(AGENT_FRAMES[stream], piece)))) {
          this.#lostBytes += piece.length
        }
      }
    })
  }

  /** Adds the end frame. When this resolves, the spool is on the disk. */
  finish(end: AgentCommandEnd): Promise<void> {
    return this.#inTurn(async () => {
      const frames = [frameOf(AGENT_FRAMES.end, Buffer.from(JSON.stringify(end)))]
      if (this.#lostBytes > 0) {
        const why =
          this.#writeError === ''
            ? 'it was not fetched in time (SLIPWAY_AGENT_SPOOL_MIB)'
            : `the disk of the target failed (${this.#writeError})`
        frames.unshift(
          frameOf(AGENT_FRAMES.stderr, Buffer.from(`\n${this.#lostBytes} bytes of the output are lost: ${why}\n`)),
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

  /** From now on, drops output that finds no space. */
  stopWaiting(): void {
    this.#dropsExcess = true
    this.#wake()
  }

  /** Returns at most `limit` bytes from an offset on; null if the spool does not have that offset. The last frame may be cut. */
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

  /** The instance has everything before the offset. */
  async acknowledge(offset: number): Promise<void> {
    if (offset <= this.#acknowledged || offset > this.#total) return
    this.#acknowledged = offset
    this.#wake()
    while ((this.#segments[1]?.from ?? Number.POSITIVE_INFINITY) <= offset) {
      const [gone] = this.#segments.splice(0, 1)
      if (gone) await rm(gone.file, { force: true })
    }
  }

  /** Resolves when the spool has bytes from this offset on, or after `waitMs`. */
  async waitForFrames(offset: number, waitMs: number): Promise<void> {
    const until = performance.now() + waitMs
    while (offset >= this.#total && !this.#complete) {
      const left = until - performance.now()
      if (left <= 0) return
      await this.#changed(left)
    }
  }

  async remove(): Promise<void> {
    this.stopWaiting()
    await this.#writing
    await this.#handle?.close().catch(() => {})
    this.#handle = null
    await Promise.all(this.#segments.map(({ file }) => rm(file, { force: true })))
  }

  get #isFull(): boolean {
    return this.#end - this.#acknowledged >= this.#limitBytes
  }

  async #waitForSpace(): Promise<void> {
    while (this.#isFull && !this.#dropsExcess && this.#lostBytes === 0) await this.#changed()
  }

  /** Returns false if the write fails. Then no part of the frame is in the file. */
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
      this.#writeError = (error as NodeJS.ErrnoException).code ?? 'unknown'
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

/** The length of all complete frames, and the kind of the last one. */
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
