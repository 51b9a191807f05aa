import { AgentHeartbeatResponse } from '@slipway/contracts'
import { type BridgeConnections, fullJitter, type Logger, sleep } from '@slipway/runtime'
import type { Enrolment, Identity } from '../identity/identity.ts'
import { aboutAgent } from './about.ts'
import { BridgeRefusal, callBridge } from './call.ts'

const UNENROLLED_MS = 1_000
const RETRY = { baseMs: 1_000, capMs: 30_000 }

export interface HeartbeatOptions {
  connections: BridgeConnections
  identity: Identity
  /** As configured; empty where that was said when it enrolled, if at all. */
  address: string
  port: number
  /** The bridge no longer knows this agent. */
  onRevoked(): void
  logger: Logger
}

/** Tells the bridge regularly that the target is there, and where. */
export class Heartbeats {
  readonly #options: HeartbeatOptions
  readonly #stop = new AbortController()
  #failures = 0
  /** The message of the last failure: the same one is logged once. */
  #lastFailure = ''

  constructor(options: HeartbeatOptions) {
    this.#options = options
  }

  start(): void {
    void this.#run()
  }

  stop(): void {
    this.#stop.abort()
  }

  async #run(): Promise<void> {
    const { identity, logger } = this.#options
    if (!identity.enrolment) logger.warn('not enrolled yet: run `target-agent enrol`')
    for (;;) {
      const { enrolment } = identity
      const pauseMs = enrolment ? await this.#beat(enrolment) : UNENROLLED_MS
      await this.#pause(pauseMs, enrolment)
      if (this.#stop.signal.aborted) return
    }
  }

  /** Looks every second whether somebody has enrolled the agent anew. */
  async #pause(ms: number, enrolment: Enrolment | null): Promise<void> {
    const { identity } = this.#options
    for (const until = performance.now() + ms; performance.now() < until; ) {
      await sleep(Math.min(UNENROLLED_MS, ms), this.#stop.signal)
      if (this.#stop.signal.aborted || identity.enrolment?.agent_id !== enrolment?.agent_id) return
    }
  }

  /** Returns how long to wait for the next one. */
  async #beat(enrolment: Enrolment): Promise<number> {
    const { connections, identity, address, port, onRevoked, logger } = this.#options
    try {
      const { heartbeat_seconds } = await callBridge({
        connections,
        url: enrolment.bridge_url,
        path: `/v1/agents/${enrolment.agent_id}/heartbeat`,
        credential: enrolment.credential,
        bodyOf: (localAddress) => aboutAgent(address || enrolment.address, port, localAddress),
        answer: AgentHeartbeatResponse,
      })
      if (this.#failures > 0) logger.info('the bridge is reached again')
      this.#failures = 0
      this.#lastFailure = ''
      identity.judge(enrolment, true)
      // Agents that were started at once shall not call at once for ever.
      return heartbeat_seconds * 1_000 * (0.9 + 0.2 * Math.random())
    } catch (error) {
      this.#failures += 1
      const isRevoked = error instanceof BridgeRefusal && error.status === 401
      if (isRevoked && identity.judge(enrolment, false)) {
        logger.error('the bridge has revoked this agent: commands are killed and no instance is let in', { error })
        onRevoked()
      } else if (!isRevoked && String(error) !== this.#lastFailure) {
        logger.warn('the bridge does not take the heartbeat, going on trying', { error })
      }
      this.#lastFailure = String(error)
      return isRevoked ? enrolment.heartbeat_seconds * 1_000 : fullJitter(this.#failures, RETRY)
    }
  }
}
