import type { ServerResponse } from 'node:http'
import type { Logger } from '@slipway/runtime'
import { PING } from './frames.ts'
import type { Hub } from './hub.ts'
import { dropped } from './metrics.ts'
import { type EncodedChange, fromLine } from './recent-frames.ts'

/** When a client counts as too slow. The memory per client is always bounded: one piece, and the buffer of its socket. */
export interface StreamClientLimits {
  pingMs: number
  /** How many lines a client may be behind after it had caught up … */
  lines: number
  bytes: number
  /** … for this long, while its socket accepts nothing. */
  graceMs: number
  /** The longest time in which a socket may accept nothing. */
  stallMs: number
}

export const STREAM_CLIENT_LIMITS: StreamClientLimits = {
  pingMs: 15_000,
  lines: 1_000,
  bytes: 256 * 1024,
  graceMs: 5_000,
  stallMs: 30_000,
}

/** The size of one write. After each, the socket says whether it accepts more. */
const PIECE_BYTES = 64 * 1024

interface StreamClientOptions {
  logger: Logger
  limits: StreamClientLimits
  /** The first line that the client wants. */
  from: number
}

class ClientGone extends Error {}

/**
 * One client of a hub. It gets the present state, the log from its line, then all changes until the deployment has ended. Lines
 * that are no longer among the hub's recent frames come from the database, at the client's pace.
 */
export class StreamClient {
  readonly #hub: Hub
  readonly #response: ServerResponse
  readonly #options: StreamClientOptions
  /** The next line to send. */
  #line: number
  /** The number of the last change that was sent. */
  #seq = 0
  #transitions = 0
  #recentBytes = 0
  #caughtUp = false
  #blockedSince: number | null = null
  #withinLimitsAt = performance.now()
  #pingedAt = performance.now()
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

  /** Ends the stream without its last message. The client connects again, to another replica. */
  dismiss(): void {
    this.#gone = true
    this.#response.end()
    this.#leave()
  }

  /** Cuts the client off if it is too slow. Called periodically. */
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
    const { knownState, recentFrames } = this.#hub
    const { lines, bytes } = this.#options.limits
    return knownState.nextLine - this.#line > lines || recentFrames.totalBytes - this.#recentBytes > bytes
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
      // A change may have come during the check.
      if (this.#seq === this.#hub.seq) await this.#hub.changed()
    }
  }

  /**
   * Sends the next change to a client that is up to date. Returns false if the change needs more than one write. With hundreds
   * of clients, a promise for each would take most of the CPU (goal: 500 watchers).
   */
  #tellNext(): boolean {
    const entry = this.#hub.recentFrames.after(this.#seq)
    if (entry === undefined || entry.lines.firstLine !== this.#line || entry.whole.length > PIECE_BYTES) return false
    if (this.#gone || this.#response.destroyed || this.#response.writableNeedDrain) return false
    this.#response.write(entry.whole)
    this.#advance(entry)
    return true
  }

  /** Sends the next change that the client does not have. Returns false if it has all. */
  async #tellSomething(): Promise<boolean> {
    const hub = this.#hub
    const entry = hub.recentFrames.after(this.#seq)
    const upTo = entry === undefined ? hub.knownState.nextLine : entry.lines.firstLine
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
    this.#transitions = this.#hub.knownState.openTransitions.length
    this.#recentBytes = this.#hub.recentFrames.totalBytes
  }

  async #tellEntry(entry: EncodedChange): Promise<void> {
    const { before, lines, after } = entry
    await this.#write(before)
    if (this.#line < lines.nextLine) await this.#write(fromLine(lines, this.#line))
    await this.#write(after)
    this.#advance(entry)
  }

  #advance({ seq, lines, transitions, totalBytes }: EncodedChange): void {
    this.#line = Math.max(this.#line, lines.nextLine)
    this.#seq = seq
    this.#transitions = transitions
    this.#recentBytes = totalBytes
  }

  /** Sends a page of lines below `upTo` from the database. */
  async #replay(upTo: number): Promise<void> {
    const page = await this.#hub.pages.from(this.#line, upTo)
    // Retention has dropped the partition with these lines. Skip them.
    if (page.length === 0) this.#line = upTo
    for (const lines of page) {
      if (this.#line >= upTo) return
      await this.#write(fromLine(lines, this.#line, upTo))
      this.#line = Math.min(lines.nextLine, upTo)
    }
  }

  #isPingDue(): boolean {
    return performance.now() - this.#pingedAt >= this.#options.limits.pingMs
  }

  async #ping(): Promise<void> {
    this.#pingedAt = performance.now()
    await this.#write(PING)
  }

  /** Sends bytes in pieces, as fast as the client accepts them. */
  async #write(bytes: Buffer): Promise<void> {
    // An earlier write may not have waited for the socket.
    if (this.#response.writableNeedDrain && !this.#gone && !this.#response.destroyed) await this.#drained()
    for (let sent = 0; sent < bytes.length; sent += PIECE_BYTES) {
      if (this.#gone || this.#response.destroyed) throw new ClientGone()
      if (!this.#response.write(bytes.subarray(sent, sent + PIECE_BYTES))) await this.#drained()
    }
  }

  async #drained(): Promise<void> {
    const response = this.#response
    this.#blockedSince = performance.now()
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
