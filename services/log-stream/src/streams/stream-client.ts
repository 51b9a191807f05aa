import type { ServerResponse } from 'node:http'
import type { Logger } from '@slipway/runtime'
import { PING } from './frames.ts'
import type { Hub } from './hub.ts'
import { dropped } from './metrics.ts'
import { fromLine, type TapeEntry } from './tape.ts'

/** When a client counts as too slow. Its bytes in memory are bounded at all times: one piece, and what its socket holds. */
export interface StreamClientLimits {
  pingMs: number
  /** How far behind a client may be that had caught up before … */
  lines: number
  bytes: number
  /** … for this long, while its socket takes no more. */
  graceMs: number
  /** How long a socket may take nothing at all. */
  stallMs: number
}

export const STREAM_CLIENT_LIMITS: StreamClientLimits = {
  pingMs: 15_000,
  lines: 1_000,
  bytes: 256 * 1024,
  graceMs: 5_000,
  stallMs: 30_000,
}

/** Given to a socket at a time; it says for each whether it wants more. */
const PIECE_BYTES = 64 * 1024

export interface StreamClientOptions {
  logger: Logger
  limits: StreamClientLimits
  /** The first line that the client wants. */
  from: number
}

class ClientGone extends Error {}

/**
 * One client of a hub: what has happened, the log from its line, then what happens, until the deployment has ended. It goes at
 * the client's pace: lines that are no longer on the hub's tape come from the database.
 */
export class StreamClient {
  readonly #hub: Hub
  readonly #response: ServerResponse
  readonly #options: StreamClientOptions
  /** The next line to send. */
  #line: number
  /** The last change of the hub that was told. */
  #seq = 0
  #transitions = 0
  #tapeBytes = 0
  #caughtUp = false
  #blockedSince: number | null = null
  #withinLimitsAt = Date.now()
  #pingedAt = Date.now()
  #gone = false
  #leave: () => void = () => {}

  constructor(hub: Hub, response: ServerResponse, options: StreamClientOptions) {
    this.#hub = hub
    this.#response = response
    this.#options = options
    this.#line = options.from
  }

  /** Serves the client until the stream has ended or the client is gone. Never throws. */
  async run(): Promise<void> {
    const left = new Promise<void>((resolve) => {
      this.#leave = resolve
    })
    this.#response.once('close', () => {
      this.#gone = true
      this.#leave()
    })
    try {
      await Promise.race([this.#serve(), left])
    } catch (error) {
      if (error instanceof ClientGone) return
      this.#options.logger.warn('a log stream broke off', { deployment_id: this.#hub.id, error })
      this.#response.destroy()
    }
  }

  /** Ends the stream without its last message: the client comes back, to another replica. */
  dismiss(): void {
    this.#gone = true
    this.#response.end()
    this.#leave()
  }

  /** Cuts the client off when it is too slow. Called now and then. */
  check(now: number): void {
    const { limits, logger } = this.#options
    const blocked = this.#blockedSince !== null
    if (!blocked || !this.#isBehind()) this.#withinLimitsAt = now
    const slow = now - this.#withinLimitsAt > limits.graceMs
    const stalled = this.#blockedSince !== null && now - this.#blockedSince > limits.stallMs
    if (!slow && !stalled) return
    dropped.inc({ reason: 'slow' })
    logger.info('a client of a log stream reads too slowly and is cut off', {
      deployment_id: this.#hub.id,
      line: this.#line,
    })
    this.#response.destroy()
  }

  #isBehind(): boolean {
    if (!this.#caughtUp) return false
    const { mirror, tape } = this.#hub
    const { lines, bytes } = this.#options.limits
    return mirror.nextLine - this.#line > lines || tape.totalBytes - this.#tapeBytes > bytes
  }

  async #serve(): Promise<void> {
    await this.#write(PING)
    await this.#tellOpening()
    while (!this.#gone) {
      if (this.#isPingDue()) await this.#ping()
      if (this.#tellNext() || (await this.#tellSomething())) continue
      this.#caughtUp = true
      if (this.#hub.ending) {
        await this.#write(this.#hub.ending)
        this.#response.end()
        return
      }
      // Something may have come while it was found that there is nothing.
      if (this.#seq === this.#hub.seq) await this.#hub.changed()
    }
  }

  /**
   * Tells a client that is up to date and takes what it is given the next change; false when that takes more than a write.
   * With hundreds of clients and many changes a second, a promise for each would be most of the work.
   */
  #tellNext(): boolean {
    const entry = this.#hub.tape.after(this.#seq)
    if (entry === undefined || entry.lines.firstLine !== this.#line || entry.whole.length > PIECE_BYTES) return false
    if (this.#gone || this.#response.destroyed || this.#response.writableNeedDrain) return false
    this.#response.write(entry.whole)
    this.#told(entry)
    return true
  }

  /** Tells the next thing that the client does not have; false when it has everything. */
  async #tellSomething(): Promise<boolean> {
    const hub = this.#hub
    const entry = hub.tape.after(this.#seq)
    const upTo = entry === undefined ? hub.mirror.nextLine : entry.lines.firstLine
    if (this.#line < upTo) await this.#replay(upTo)
    else if (entry) await this.#tellEntry(entry)
    else if (this.#seq < hub.seq) await this.#tellDifferences()
    else return false
    return true
  }

  async #tellOpening(): Promise<void> {
    const opening = this.#hub.opening()
    this.#adopt()
    for await (const piece of opening) await this.#write(piece)
  }

  async #tellDifferences(): Promise<void> {
    const differences = this.#hub.differences(this.#seq, this.#transitions)
    this.#adopt()
    for await (const piece of differences) await this.#write(piece)
  }

  #adopt(): void {
    this.#seq = this.#hub.seq
    this.#transitions = this.#hub.mirror.openTransitions.length
    this.#tapeBytes = this.#hub.tape.totalBytes
  }

  async #tellEntry(entry: TapeEntry): Promise<void> {
    const { before, lines, after } = entry
    await this.#write(before)
    if (this.#line < lines.nextLine) await this.#write(fromLine(lines, this.#line))
    await this.#write(after)
    this.#told(entry)
  }

  #told({ seq, lines, transitions, totalBytes }: TapeEntry): void {
    this.#line = Math.max(this.#line, lines.nextLine)
    this.#seq = seq
    this.#transitions = transitions
    this.#tapeBytes = totalBytes
  }

  /** A page of lines below `upTo` from the database. */
  async #replay(upTo: number): Promise<void> {
    const page = await this.#hub.pages.from(this.#line, upTo)
    // Lines that are gone (their day was dropped) are passed over.
    if (page.length === 0) this.#line = upTo
    for (const lines of page) {
      if (this.#line >= upTo) return
      await this.#write(fromLine(lines, this.#line, upTo))
      this.#line = Math.min(lines.nextLine, upTo)
    }
  }

  #isPingDue(): boolean {
    return Date.now() - this.#pingedAt >= this.#options.limits.pingMs
  }

  async #ping(): Promise<void> {
    this.#pingedAt = Date.now()
    await this.#write(PING)
  }

  /** Sends bytes, piece by piece, as fast as the client takes them. */
  async #write(bytes: Buffer): Promise<void> {
    // Something may have been written without waiting.
    if (this.#response.writableNeedDrain && !this.#gone && !this.#response.destroyed) await this.#drained()
    for (let sent = 0; sent < bytes.length; sent += PIECE_BYTES) {
      if (this.#gone || this.#response.destroyed) throw new ClientGone()
      if (!this.#response.write(bytes.subarray(sent, sent + PIECE_BYTES))) await this.#drained()
    }
  }

  async #drained(): Promise<void> {
    const response = this.#response
    this.#blockedSince = Date.now()
    await new Promise<void>((resolve) => {
      const done = () => {
        response.off('drain', done)
        response.off('close', done)
        resolve()
      }
      response.on('drain', done)
      response.on('close', done)
    })
    this.#blockedSince = null
  }
}
