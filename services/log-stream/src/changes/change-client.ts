import type { ServerResponse } from 'node:http'
import { PING } from '../streams/frames.ts'

/** When a client counts as too slow. */
export interface ChangeClientLimits {
  pingMs: number
  /** What may wait in memory for a client when there is more to tell it. */
  bytes: number
  /** How long a socket may take nothing at all. */
  stallMs: number
}

/** One client of a feed. It is told what changes as it changes, or cut off: nothing is kept for it. */
export class ChangeClient {
  readonly #response: ServerResponse
  readonly #limits: ChangeClientLimits
  #pingedAt = Date.now()
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
    if (!this.#response.write(bytes)) this.#blockedSince ??= Date.now()
  }

  /** Pings when it is due; false when the client takes nothing any more. Called now and then. */
  check(now: number): boolean {
    if (this.#blockedSince !== null && now - this.#blockedSince > this.#limits.stallMs) return false
    if (now - this.#pingedAt >= this.#limits.pingMs) {
      this.#pingedAt = now
      this.send(PING)
    }
    return true
  }

  /** Ends the stream in order. */
  dismiss(): void {
    this.#response.end()
  }

  cut(): void {
    this.#response.destroy()
  }
}
