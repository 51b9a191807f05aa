import { isDeepStrictEqual } from 'node:util'
import type { RunRef } from '@slipway/contracts'
import { fullJitter, type Logger, sleep } from '@slipway/runtime'
import { type BridgeClient, BridgeError, UnauthorizedError } from './bridge-client.ts'
import type { Enrolment, Identity } from './identity.ts'

/** Commands have to be dead before another instance may start them again. */
const FENCE_BEFORE_LOST_MS = 8_000
/** By then commands have been asked to end and been killed, unless this instance cannot: then others kill them. */
const CUT_BEFORE_LOST_MS = 4_000
const WATCH_MS = 250
const RETRY_MS = 1_000
const ENROL_RETRY = { baseMs: 500, capMs: 15_000 }

export interface MembershipOptions {
  bridge: BridgeClient
  identity: Identity
  enrolmentToken: string
  /** What the bridge is told of this instance. */
  self: Enrolment['as']
  /** The runs to keep the leases of. */
  heldRuns(): RunRef[]
  /** The bridge has heard of these runs; it does not want those in `stop`. */
  onHeartbeat(reported: RunRef[], stop: RunRef[]): void
  /** The bridge has heard of this instance: its commands may live until then, by performance.now(). */
  onRenewed(until: number): void
  /** No heartbeat for so long that the runs may soon be another's. Called once until the next heartbeat. */
  onFence(): void
  logger: Logger
}

/** Keeps this instance enrolled and its leases alive. */
export class Membership {
  readonly #options: MembershipOptions
  readonly #abort = new AbortController()
  #lastHeartbeat: number | null = null
  /** Nothing runs before the first heartbeat. */
  #fenced = true
  #fenceAfterMs = 0
  #failures = 0
  #done: Promise<void> = Promise.resolve()
  #watch: NodeJS.Timeout | undefined

  constructor(options: MembershipOptions) {
    this.#options = options
  }

  start(): void {
    this.#done = this.#run()
    this.#watch = setInterval(() => this.#fenceIfLate(), WATCH_MS)
  }

  async stop(): Promise<void> {
    clearInterval(this.#watch)
    this.#abort.abort()
    await this.#done
  }

  /** Whether the bridge heard of us at the last try. */
  get isUp(): boolean {
    return this.#lastHeartbeat !== null && this.#failures === 0
  }

  /** Milliseconds since the bridge last heard of us; null when it never has. */
  get heardAgoMs(): number | null {
    return this.#lastHeartbeat === null ? null : Math.round(performance.now() - this.#lastHeartbeat)
  }

  /** The credential for calls to the bridge. Throws UnauthorizedError while there is none. */
  get credential(): string {
    const { enrolment } = this.#options.identity
    if (!enrolment) throw new UnauthorizedError('the instance is not enrolled')
    return enrolment.credential
  }

  /** The bridge refused this credential: get another, unless that has happened already. */
  async refused(credential: string): Promise<void> {
    const { identity } = this.#options
    if (identity.enrolment?.credential === credential) await identity.enrol(null)
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort
    while (!signal.aborted) {
      const enrolment = await this.#enrolment()
      if (!enrolment) continue
      this.#fenceAfterMs = Math.max(0, enrolment.lost_after_seconds * 1_000 - FENCE_BEFORE_LOST_MS)
      const since = performance.now()
      const ok = await this.#beat(enrolment)
      if (ok) await sleep(Math.max(0, enrolment.heartbeat_seconds * 1_000 - (performance.now() - since)), signal)
      else await sleep(RETRY_MS, signal)
    }
  }

  /** The present enrolment, or a new one; null when that failed and was waited for. */
  async #enrolment(): Promise<Enrolment | null> {
    const { bridge, identity, enrolmentToken, self, logger } = this.#options
    const known = identity.enrolment
    if (known && isDeepStrictEqual(known.as, self)) return known
    try {
      const enrolled = await bridge.enrol({ ...self, callback_token: identity.callbackToken }, enrolmentToken)
      await identity.enrol({ ...enrolled, as: self })
      logger.info('enrolled', { instance_id: enrolled.instance_id })
    } catch (error) {
      this.#failures += 1
      if (this.#failures === 1 || this.#failures % 20 === 0) {
        logger.warn(enrolAdvice(error), { attempt: this.#failures, error })
      }
      await sleep(fullJitter(this.#failures, ENROL_RETRY), this.#abort.signal)
    }
    return this.#abort.signal.aborted ? null : identity.enrolment
  }

  async #beat(enrolment: Enrolment): Promise<boolean> {
    const { bridge, self, heldRuns, onRenewed, onHeartbeat, logger } = this.#options
    // The bridge's clock starts when it hears us, which is not before now.
    const sentAt = performance.now()
    const runs = heldRuns()
    try {
      const { stop } = await bridge.heartbeat(enrolment.instance_id, enrolment.credential, {
        version: self.version,
        runs,
      })
      if (this.#abort.signal.aborted) return true
      // An answer that took so long that the lease may be gone by now proves nothing.
      if (performance.now() - sentAt >= this.#fenceAfterMs) return false
      if (this.#failures > 0) logger.info('the bridge answers again')
      this.#failures = 0
      this.#lastHeartbeat = sentAt
      this.#fenced = false
      onRenewed(sentAt + enrolment.lost_after_seconds * 1_000 - CUT_BEFORE_LOST_MS)
      onHeartbeat(runs, stop)
      return true
    } catch (error) {
      this.#failures += 1
      if (error instanceof UnauthorizedError) await this.refused(enrolment.credential)
      if (this.#failures === 1 || this.#failures % 20 === 0)
        logger.warn('no heartbeat', { attempt: this.#failures, error })
      return false
    }
  }

  #fenceIfLate(): void {
    const { onFence, logger } = this.#options
    if (this.#fenced || this.#lastHeartbeat === null) return
    if (performance.now() - this.#lastHeartbeat < this.#fenceAfterMs) return
    this.#fenced = true
    logger.error('the bridge has not heard of this instance for too long: its commands are killed')
    onFence()
  }
}

function enrolAdvice(error: unknown): string {
  if (error instanceof UnauthorizedError)
    return 'the bridge refuses to enrol this instance: check SLIPWAY_ENROLMENT_TOKEN'
  if (error instanceof BridgeError) return `the bridge refuses to enrol this instance: ${error.message}`
  return 'the bridge cannot be reached to enrol: check SLIPWAY_BRIDGE_URL'
}
