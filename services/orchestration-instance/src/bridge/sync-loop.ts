import {
  MAX_PROBED_TARGETS,
  type ProbeResult,
  type ProbeTarget,
  type RunRef,
  type SyncRequest,
  type SyncResponse,
} from '@slipway/contracts'
import { isCompatible, type Logger, SLIPWAY_VERSION, sleep } from '@slipway/runtime'
import { type BridgeClient, UnauthorizedError } from './bridge-client.ts'
import type { Identity } from './identity.ts'
import { type Joining, TOKEN_ADVICE } from './join.ts'
import type { Rotation } from './rotation.ts'
import type { RunReports } from './run-reports.ts'

/** How long the bridge holds a sync. A sync is the heartbeat, so this is also the time between two heartbeats. */
const WAIT_SECONDS = 5
/** Commands must have ended before another instance may start them again. */
const FENCE_BEFORE_LOST_MS = 8_000
/** At this time watchdogs kill commands. This happens only when this process hangs and has not killed them itself. */
const CUT_BEFORE_LOST_MS = 4_000
const RETRY_MS = 1_000
/** The longest time between two syncs with a refused credential. */
const REFUSED_RETRY_MS = 15_000
const REJOIN_ADVICE = `To let this instance join again, ${TOKEN_ADVICE}`

type InstanceDescription = Pick<SyncRequest, 'version' | 'capacity' | 'labels'> & { name: string }

interface SyncLoopOptions {
  bridge: BridgeClient
  identity: Identity
  self: InstanceDescription
  joining: Pick<Joining, 'join' | 'hasNewToken'>
  rotation: Pick<Rotation, 'rotateIfDue'>
  runs: SyncedRuns
  probe(targets: ProbeTarget[]): Promise<ProbeResult[]>
  /** Called after a heartbeat. Commands may run until this time, by performance.now(). */
  onRenewed(until: number): void
  logger: Logger
}

interface SyncedRuns {
  readonly acceptsRuns: boolean
  readonly toReport: SyncRequest['runs']
  /** Applies the answer to a sync: ends the runs in `stop`, resumes the other reported ones. */
  reconcile(reported: readonly RunRef[], stop: SyncResponse['stop']): void
  start(runs: SyncResponse['start']): void
  readonly reports: RunReports
  /** Kills all commands. The runs wait for the next heartbeat. */
  fence(): Promise<void>
}

/**
 * Reports the state of this instance to the bridge and applies the answers. A sync is the heartbeat.
 *
 *     joining ──credential──▶ syncing ──an administrator removes the instance──▶ joining, with a new token
 *     syncing: a sync is on its way or waits at the bridge; an update of this instance ends the wait and starts the next sync
 *     fenced:  no heartbeat for too long; all commands are killed. The first state, until the next heartbeat.
 */
export class SyncLoop {
  readonly #options: SyncLoopOptions
  readonly #stop = new AbortController()
  /** Ends the current sync. */
  #current = new AbortController()
  /** Whether the heartbeat of the current sync is committed. Only then an update may end the wait. */
  #isWaiting = false
  #hasUpdate = false
  #lastHeartbeat: number | null = null
  #fenced = true
  #fenceAfterMs = 0
  #failures = 0
  /** Whether the bridge refuses the credential. */
  #isRefused = false
  #lastVersion: string | null = null
  #probing = 0
  #probed: ProbeResult[] = []
  #done: Promise<void> = Promise.resolve()
  /** Ends when the instance must be fenced. Each heartbeat starts it again. */
  #fenceTimer: NodeJS.Timeout | undefined

  constructor(options: SyncLoopOptions) {
    this.#options = options
    options.runs.reports.onUpdate = () => this.#announceUpdate()
  }

  start(): void {
    this.#done = this.#run()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    this.#current.abort()
    await this.#done
    clearTimeout(this.#fenceTimer)
  }

  /** Whether the last sync succeeded. */
  get isUp(): boolean {
    return this.#lastHeartbeat !== null && this.#failures === 0
  }

  /** Milliseconds since the last heartbeat; null before the first one. */
  get heartbeatAgeMs(): number | null {
    return this.#lastHeartbeat === null ? null : Math.round(performance.now() - this.#lastHeartbeat)
  }

  /** The credential for other calls to the bridge. Throws UnauthorizedError while there is none. */
  get credential(): string {
    const { credential } = this.#options.identity
    if (credential === null) throw new UnauthorizedError('this instance has not joined yet')
    return credential
  }

  async #run(): Promise<void> {
    const { joining, identity } = this.#options
    const { signal } = this.#stop
    while (!signal.aborted) {
      const mustJoin = identity.membership === null || (this.#isRefused && (await joining.hasNewToken()))
      if (mustJoin && (await joining.join(signal)) !== null) this.#isRefused = false
      if (identity.membership === null || (await this.#sync(this.credential))) continue
      await sleep(this.#isRefused ? Math.min(this.#failures * RETRY_MS, REFUSED_RETRY_MS) : RETRY_MS, signal)
    }
  }

  /** One sync. False if the next one has to wait after a failure. */
  async #sync(credential: string): Promise<boolean> {
    const { bridge, identity, rotation, logger } = this.#options
    this.#hasUpdate = false
    const { request, delivered } = this.#report()
    this.#current = new AbortController()
    const { signal } = this.#current
    // The earliest time at which the bridge can renew the leases.
    const sentAt = performance.now()
    try {
      const { body } = await bridge.sync(credential, request, signal)
      this.#renew(sentAt)
      delivered()
      await identity.confirmCredential(credential)
      void rotation.rotateIfDue()
      this.#isWaiting = true
      if (this.#hasUpdate) this.#current.abort()
      this.#apply(await body, request)
      return true
    } catch (error) {
      if (signal.aborted) return true
      this.#failures += 1
      if (error instanceof UnauthorizedError) await this.handleRefusal(credential, error)
      if (this.#failures === 1 || this.#failures % 20 === 0) {
        logger.warn('a sync with the bridge failed', { attempt: this.#failures, error })
      }
      return false
    } finally {
      this.#isWaiting = false
    }
  }

  /** Ends the wait at the bridge, so that the next sync starts at once. Never ends a sync before its heartbeat is committed. */
  #announceUpdate(): void {
    this.#hasUpdate = true
    if (this.#isWaiting) this.#current.abort()
  }

  #report(): { request: SyncRequest; delivered(): void } {
    const { self, runs } = this.#options
    const { version, capacity, labels } = self
    const probes = [...this.#probed]
    const { reports, delivered } = runs.reports.take()
    return {
      request: {
        version,
        capacity,
        labels,
        // Restored runs resume with the answer.
        wait_seconds: this.#fenced ? 0 : WAIT_SECONDS,
        accepts_runs: runs.acceptsRuns,
        runs: runs.toReport,
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
    // The leases may have expired since the call was sent.
    if (performance.now() - sentAt >= this.#fenceAfterMs)
      throw new Error('the answer of the bridge came too late: the leases may have expired')
    if (this.#failures > 0) logger.info('the bridge answers again')
    this.#failures = 0
    this.#isRefused = false
    this.#lastHeartbeat = sentAt
    this.#fenced = false
    clearTimeout(this.#fenceTimer)
    this.#fenceTimer = setTimeout(() => this.#fence(), sentAt + this.#fenceAfterMs - performance.now())
    onRenewed(sentAt + lostAfterMs - CUT_BEFORE_LOST_MS)
  }

  #apply({ version, start, stop, probes }: SyncResponse, request: SyncRequest): void {
    const { runs } = this.#options
    this.#checkVersion(version)
    runs.reconcile(request.runs, stop)
    runs.start(start)
    if (probes.length > 0) void this.#probe(probes)
  }

  #checkVersion(version: string): void {
    if (this.#lastVersion === version) return
    this.#lastVersion = version
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
    this.#announceUpdate()
  }

  /**
   * Handles a refused credential. A new credential is dropped for the one before it. A removed instance forgets its membership.
   * Otherwise the membership stays, because the bridge may accept the credential later.
   */
  async handleRefusal(credential: string, error: UnauthorizedError): Promise<void> {
    const { identity, runs, logger } = this.#options
    if (credential !== this.#options.identity.credential) return
    if (await identity.revertCredential(credential)) {
      logger.warn('the bridge refuses the new credential: the one before it is used', { error })
    } else if (error.isRemoved) {
      logger.error(`an administrator has removed this instance: its commands are killed. ${REJOIN_ADVICE}`)
      this.#fenced = true
      await identity.leave()
      await runs.fence()
    } else if (!this.#isRefused) {
      this.#isRefused = true
      logger.error(`the bridge refuses the credential of this instance: ${error.message}. ${REJOIN_ADVICE}`)
    }
  }

  #fence(): void {
    const { runs, logger } = this.#options
    if (this.#fenced) return
    this.#fenced = true
    logger.error('no sync has succeeded for too long: the commands of this instance are killed')
    void runs.fence()
  }
}
