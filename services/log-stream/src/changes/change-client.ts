import type { ServerResponse } from 'node:http'
import { PING } from '../streams/frames.ts'

/** When a client counts as too slow. */
export interface ChangeClientLimits {
  pingMs: number
  /** The most bytes in memory for a client when the next change arrives. */
  bytes: number
  /** The longest time in which a socket may accept nothing. */
  stallMs: number
}

/**
 * One client of a change stream. It gets each change at once. A client that is too slow is cut off, because nothing is stored
 * for it.
 */
export class ChangeClient {
  readonly #response: ServerResponse
  readonly #limits: ChangeClientLimits
  #pingedAt = performance.now()
  #blockedSince: number | null = null

  constructor(response: ServerResponse, limits: ChangeClientLimits) {
    this.#response = response
    this.#limits = limits
    response.on('drain', () => {
      this.#blockedSince = null
    })
  }

  get isBehind(): boolean {
    return this.#response.writableLength > this.#limits.bytes
  }

  send(bytes: Buffer): void {
    if (!this.#response.write(bytes)) this.#blockedSince ??= performance.now()
  }

  /** Sends a ping when it is due. Returns false if the client is too slow. Called periodically. */
  check(now: number): boolean {
    if (this.#blockedSince !== null && now - this.#blockedSince > this.#limits.stallMs) return false
    if (now - this.#pingedAt >= this.#limits.pingMs) {
      this.#pingedAt = now
      this.send(PING)
    }
    return true
  }

  /** Ends the stream normally. */
  dismiss(): void {
    this.#response.end()
  }

  cut(): void {
    this.#response.destroy()
  }
}
