import { AgentHeartbeatResponse } from '@slipway/contracts'
import { type BridgeConnections, fullJitter, type Logger, sleep } from '@slipway/runtime'
import type { Enrolment, Identity } from '../identity/identity.ts'
import { BridgeRefusal, callBridge } from './call.ts'
import { describeAgent } from './describe-agent.ts'

const CHECK_ENROLMENT_MS = 1_000
const RETRY = { baseMs: 1_000, capMs: 30_000 }

interface HeartbeatOptions {
  connections: BridgeConnections
  identity: Identity
  /** The configured address; empty for the address of the enrolment. */
  address: string
  port: number
  /** Called when the bridge has revoked this agent. */
  onRevoked(): void
  logger: Logger
}

/** Sends heartbeats with the address of this agent to the bridge. */
export class Heartbeats {
  readonly #options: HeartbeatOptions
  readonly #stop = new AbortController()
  #failures = 0
  /** The message of the last failure. A repeated failure is not logged again. */
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
      const pauseMs = enrolment ? await this.#beat(enrolment) : CHECK_ENROLMENT_MS
      await this.#pause(pauseMs, enrolment)
      if (this.#stop.signal.aborted) return
    }
  }

  /** Waits. Returns early if the agent was enrolled again. */
  async #pause(ms: number, enrolment: Enrolment | null): Promise<void> {
    const { identity } = this.#options
    for (const until = performance.now() + ms; performance.now() < until; ) {
      await sleep(Math.min(CHECK_ENROLMENT_MS, ms), this.#stop.signal)
      if (this.#stop.signal.aborted || identity.enrolment?.agent_id !== enrolment?.agent_id) return
    }
  }

  /** Sends one heartbeat. Returns the wait in ms before the next one. */
  async #beat(enrolment: Enrolment): Promise<number> {
    const { connections, identity, address, port, onRevoked, logger } = this.#options
    try {
      const { heartbeat_seconds } = await callBridge({
        connections,
        url: enrolment.bridge_url,
        path: `/v1/agents/${enrolment.agent_id}/heartbeat`,
        credential: enrolment.credential,
        bodyOf: (localAddress) => describeAgent(address || enrolment.address, port, localAddress),
        answer: AgentHeartbeatResponse,
      })
      if (this.#failures > 0) logger.info('the bridge answers again')
      this.#failures = 0
      this.#lastFailure = ''
      identity.setAccepted(enrolment, true)
      // Spreads the heartbeats of agents that started at the same time.
      return heartbeat_seconds * 1_000 * (0.9 + 0.2 * Math.random())
    } catch (error) {
      this.#failures += 1
      const isRevoked = error instanceof BridgeRefusal && error.status === 401
      if (isRevoked && identity.setAccepted(enrolment, false)) {
        logger.error(
          'the bridge has revoked this agent: commands are killed and instances are refused. To use the agent again, run `target-agent enrol`',
          { error },
        )
        onRevoked()
      } else if (!isRevoked && String(error) !== this.#lastFailure) {
        logger.warn('a heartbeat failed: the next attempt follows', { error })
      }
      this.#lastFailure = String(error)
      return isRevoked ? enrolment.heartbeat_seconds * 1_000 : fullJitter(this.#failures, RETRY)
    }
  }
}
