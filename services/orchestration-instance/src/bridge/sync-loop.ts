import {
  MAX_PROBED_TARGETS,
  type ProbeResult,
  type ProbeTarget,
  type RunRef,
  type SyncRequest,
  type SyncResponse,
} from '@slipway/contracts'
import { BridgeTlsError, fullJitter, isCompatible, type Logger, SLIPWAY_VERSION, sleep } from '@slipway/runtime'
import type { RunReports } from '../runs/run-reports.ts'
import { type BridgeClient, BridgeError, UnauthorizedError } from './bridge-client.ts'
import type { Identity, Membership } from './identity.ts'

/** How long the bridge holds a sync. A sync is the heartbeat, so this is also the time between two heartbeats. */
const WAIT_SECONDS = 5
/** Commands must be dead before another instance may start them again. */
const FENCE_BEFORE_LOST_MS = 8_000
/** By then the commands were killed, unless this process is frozen: then their watchdogs kill them. */
const CUT_BEFORE_LOST_MS = 4_000
const WATCH_MS = 250
const RETRY_MS = 1_000
const JOIN_RETRY = { baseMs: 500, capMs: 15_000 }

export type Self = Pick<SyncRequest, 'version' | 'capacity' | 'labels'> & { name: string }

export interface SyncLoopOptions {
  bridge: BridgeClient
  identity: Identity
  self: Self
  /** Joins, where this instance has no credential. */
  join(): Promise<Membership>
  runs: SyncedRuns
  /** Probes targets that the bridge asks about. */
  probe(targets: ProbeTarget[]): Promise<ProbeResult[]>
  /** The bridge heard of this instance: its commands may live until then, by performance.now(). */
  onRenewed(until: number): void
  logger: Logger
}

/** The runs of this instance, as the loop sees them. */
export interface SyncedRuns {
  readonly acceptsRuns: boolean
  readonly held: SyncRequest['runs']
  /** The bridge has heard of the reported runs: those in `stop` end, the others go on. */
  heard(reported: readonly RunRef[], stop: SyncResponse['stop']): void
  /** Takes runs that the bridge gives. */
  start(runs: SyncResponse['start']): void
  /** What the bridge has yet to be told of runs. */
  readonly reports: RunReports
  /** Kills all commands: they may soon be another's. Runs are held until the next heartbeat. */
  fence(): Promise<void>
}

/**
 * Keeps this instance in step with the bridge: tells what it has, and does what the answer says. A sync is the heartbeat.
 *
 *     joining ──credential──▶ syncing ──the bridge knows no such credential──▶ joining
 *     syncing: a sync is on its way or waits at the bridge; news of this instance ends the wait and begins the next one
 *     fenced:  no heartbeat for too long; all commands are killed. The next heartbeat ends it. It begins like this.
 */
export class SyncLoop {
  readonly #options: SyncLoopOptions
  readonly #stop = new AbortController()
  /** Ends the present sync. */
  #current = new AbortController()
  /** Whether the heartbeat of the present sync is committed, so that news may end its wait. */
  #waits = false
  #hasNews = false
  #lastHeartbeat: number | null = null
  #fenced = true
  #fenceAfterMs = 0
  #failures = 0
  #toldVersion: string | null = null
  #probing = 0
  #probed: ProbeResult[] = []
  #done: Promise<void> = Promise.resolve()
  #watch: NodeJS.Timeout | undefined

  constructor(options: SyncLoopOptions) {
    this.#options = options
    options.runs.reports.onNews = () => this.#tellNews()
  }

  start(): void {
    this.#done = this.#run()
    this.#watch = setInterval(() => this.#fenceIfLate(), WATCH_MS)
  }

  async stop(): Promise<void> {
    clearInterval(this.#watch)
    this.#stop.abort()
    this.#current.abort()
    await this.#done
  }

  /** Whether the last sync succeeded. */
  get isUp(): boolean {
    return this.#lastHeartbeat !== null && this.#failures === 0
  }

  /** Milliseconds since the bridge last heard of this instance; null when it never has. */
  get heardAgoMs(): number | null {
    return this.#lastHeartbeat === null ? null : Math.round(performance.now() - this.#lastHeartbeat)
  }

  /** The credential for other calls to the bridge. Throws UnauthorizedError while there is none. */
  get credential(): string {
    const { membership } = this.#options.identity
    if (!membership) throw new UnauthorizedError('the instance has not joined')
    return membership.credential
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      const membership = await this.#membership()
      if (membership && !(await this.#sync(membership))) await sleep(RETRY_MS, signal)
    }
  }

  /** The present membership, or a new one; null after a failure and a wait. */
  async #membership(): Promise<Membership | null> {
    const { identity, join, logger } = this.#options
    if (identity.membership) return identity.membership
    try {
      const joined = await join()
      await identity.join(joined)
      logger.info('joined', { instance_id: joined.instance_id })
      return joined
    } catch (error) {
      this.#failures += 1
      if (this.#failures === 1 || this.#failures % 20 === 0) {
        logger.error(joinAdvice(error), { attempt: this.#failures, error })
      }
      await sleep(fullJitter(this.#failures, JOIN_RETRY), this.#stop.signal)
      return null
    }
  }

  /** One sync. False when it failed and the next one has to wait a little. */
  async #sync({ credential }: Membership): Promise<boolean> {
    const { bridge, logger } = this.#options
    this.#hasNews = false
    const { request, delivered } = this.#report()
    this.#current = new AbortController()
    const { signal } = this.#current
    // The bridge renews the leases when the call arrives, which is not before now.
    const sentAt = performance.now()
    try {
      const { body } = await bridge.sync(credential, request, signal)
      this.#renew(sentAt)
      delivered()
      this.#waits = true
      if (this.#hasNews) this.#current.abort()
      this.#apply(await body, request)
      return true
    } catch (error) {
      if (signal.aborted) return true
      this.#failures += 1
      if (error instanceof UnauthorizedError) await this.refused(credential)
      if (this.#failures === 1 || this.#failures % 20 === 0) {
        logger.warn('a sync with the bridge failed', { attempt: this.#failures, error })
      }
      return false
    } finally {
      this.#waits = false
    }
  }

  /** Ends the wait at the bridge, so that the next sync can tell the news. Never before the heartbeat is committed. */
  #tellNews(): void {
    this.#hasNews = true
    if (this.#waits) this.#current.abort()
  }

  #report(): { request: SyncRequest; delivered(): void } {
    const { self, runs } = this.#options
    const { version, capacity, labels } = self
    const probes = [...this.#probed]
    const { reports, delivered } = runs.reports.take()
    return {
      request: {
        ...{ version, capacity, labels },
        // Runs that are held go on as soon as the answer is here.
        wait_seconds: this.#fenced ? 0 : WAIT_SECONDS,
        accepts_runs: runs.acceptsRuns,
        runs: runs.held,
        ...reports,
        probe_slots: MAX_PROBED_TARGETS - this.#probing - probes.length,
        probes,
      },
      delivered: () => {
        this.#probed.splice(0, probes.length)
        delivered()
      },
    }
  }

  #renew(sentAt: number): void {
    const { identity, logger, onRenewed } = this.#options
    const lostAfterMs = (identity.membership?.lost_after_seconds ?? 0) * 1_000
    this.#fenceAfterMs = Math.max(0, lostAfterMs - FENCE_BEFORE_LOST_MS)
    // The lease may be gone by now: such an answer proves nothing.
    if (performance.now() - sentAt >= this.#fenceAfterMs) throw new Error('the answer of the bridge came too late')
    if (this.#failures > 0) logger.info('the bridge answers again')
    this.#failures = 0
    this.#lastHeartbeat = sentAt
    this.#fenced = false
    onRenewed(sentAt + lostAfterMs - CUT_BEFORE_LOST_MS)
  }

  #apply({ version, start, stop, probes }: SyncResponse, request: SyncRequest): void {
    const { runs } = this.#options
    this.#tellVersion(version)
    runs.heard(request.runs, stop)
    runs.start(start)
    if (probes.length > 0) void this.#probe(probes)
  }

  #tellVersion(version: string): void {
    if (this.#toldVersion === version) return
    this.#toldVersion = version
    if (isCompatible(version)) return
    const message = `this instance has version ${SLIPWAY_VERSION}, Slipway has ${version}: it gets no new runs until major and minor version match`
    this.#options.logger.error(message, { instance_version: SLIPWAY_VERSION, slipway_version: version })
  }

  async #probe(targets: ProbeTarget[]): Promise<void> {
    this.#probing += targets.length
    try {
      this.#probed.push(...(await this.#options.probe(targets)))
    } catch (error) {
      this.#options.logger.error('targets could not be probed', { error })
    } finally {
      this.#probing -= targets.length
    }
    this.#tellNews()
  }

  /** The bridge refused this credential: join again, unless that has happened already. */
  async refused(credential: string): Promise<void> {
    const { identity } = this.#options
    if (identity.membership?.credential === credential) await identity.join(null)
  }

  #fenceIfLate(): void {
    const { runs, logger } = this.#options
    if (this.#fenced || this.#lastHeartbeat === null) return
    if (performance.now() - this.#lastHeartbeat < this.#fenceAfterMs) return
    this.#fenced = true
    logger.error('the bridge has not heard of this instance for too long: its commands are killed')
    void runs.fence()
  }
}

function joinAdvice(error: unknown): string {
  if (error instanceof UnauthorizedError)
    return 'the bridge refuses to let this instance join: check SLIPWAY_ENROLMENT_TOKEN'
  if (error instanceof BridgeError) return `the bridge refuses to let this instance join: ${error.message}`
  if (error instanceof BridgeTlsError) return `the bridge cannot be reached to join: ${error.message}`
  return 'the bridge cannot be reached to join: check SLIPWAY_BRIDGE_URL'
}
