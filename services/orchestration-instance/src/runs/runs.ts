import { mkdir, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { KILL_GRACE_MS, Kill } from '@slipway/commands'
import { compile, type RunRef, RunSpec, type SyncRequest, type SyncResponse } from '@slipway/contracts'
import type { StepRef } from '@slipway/domain'
import { sleep } from '@slipway/runtime'
import { LRUCache } from 'lru-cache'
import { RunReports } from '../bridge/run-reports.ts'
import { readHeader } from '../journal/read-journal.ts'
import { HostedRun, type RunResources } from './hosted-run.ts'
import { stopText } from './wording.ts'

/** The grace of commands after a loss of contact. Soon after it another instance may start the same commands. */
const FENCE_GRACE_MS = 3_000
/**
 * Ended runs are remembered, so that a late answer to a sync does not start them again. Such an answer is at most as late as the timeout
 * of a sync, less than a minute.
 */
const PAST_RUN_MS = 600_000
const MAX_PAST_RUNS = 10_000
/** The wait before a failed start is reported: the bridge may start the run here again at once. */
const RETRY_MS = 1_000

const checkSpec = compile(RunSpec)

/** A run of this instance. `hosted` is null until the run is restored from its journal. */
interface KnownRun {
  epoch: number
  file: string
  hosted: HostedRun | null
  /** The last change. Changes of one run happen one after the other. */
  lastChange: Promise<unknown>
}

/** The steps whose commands may still run after the kill; null if the run was not restored from its journal. */
type UnconfirmedSteps = Promise<readonly StepRef[] | null>

interface RunsOptions extends RunResources {
  /** Gets a specification that was too large for the answer to a sync; null if the run need not start any more. */
  fetchSpec(run: RunRef): Promise<unknown>
}

export class Runs {
  readonly #folder: string
  readonly #resources: RunsOptions
  readonly #entries = new Map<string, KnownRun>()
  /** The highest epoch of each deployment that has finished or was stopped on this instance. */
  readonly #past = new LRUCache<string, { epoch: number; finished: boolean }>({
    max: MAX_PAST_RUNS,
    ttl: PAST_RUN_MS,
    ttlAutopurge: true,
  })
  /** Runs that the bridge has started, before they are in a journal. */
  readonly #arriving = new Map<string, RunRef>()
  /** Kills of runs that are in progress. */
  readonly #discards = new Set<Promise<unknown>>()
  readonly reports = new RunReports()
  #mayRun = false
  #stopping = false

  private constructor(folder: string, resources: RunsOptions) {
    this.#folder = folder
    this.#resources = resources
  }

  /** Finds the journals in the folder. Their runs resume after the first heartbeat. */
  static async open(folder: string, resources: RunsOptions): Promise<Runs> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const runs = new Runs(folder, resources)
    for (const name of await readdir(folder)) {
      const file = path.join(folder, name)
      if (name.endsWith('.draft')) await rm(file)
      else if (name.endsWith('.journal')) await runs.#find(file)
    }
    return runs
  }

  /** The runs to report in a sync, including arriving ones. */
  get toReport(): SyncRequest['runs'] {
    const arriving = [...this.#arriving.values()].filter(({ deployment_id }) => !this.#entries.has(deployment_id))
    return [
      ...arriving.map((run) => ({ ...run, next_event: null })),
      ...[...this.#entries].map(([deployment_id, { epoch, hosted }]) => {
        return { deployment_id, epoch, next_event: hosted?.acknowledged ?? null }
      }),
    ]
  }

  get acceptsRuns(): boolean {
    return !this.#stopping && !this.#resources.disk.isFull
  }

  status() {
    return [...this.#entries].map(([deployment_id, { epoch, hosted }]) => {
      return hosted?.status() ?? { deployment_id, epoch, phase: 'restored' }
    })
  }

  /** Accepts the runs that the bridge starts. Reports the runs that cannot be accepted. */
  start(runs: SyncResponse['start']): void {
    for (const { spec, ...run } of runs) void this.#receive(run, spec)
  }

  async #receive(run: RunRef, inline: RunSpec | null): Promise<void> {
    const { deployment_id } = run
    if (this.#arriving.has(deployment_id)) return
    this.#arriving.set(deployment_id, run)
    try {
      if (!this.acceptsRuns) return this.reports.declined(run)
      const spec = inline ?? (await this.#resources.fetchSpec(run))
      if (spec === null) return
      const problems = checkSpec(spec)
      // The specification holds secrets, so the report has the paths of problems and no values.
      if (problems.length > 0) {
        const places = problems.map(({ path, message }) => `${path} ${message}`).join('; ')
        return this.reports.refused(run, places.slice(0, 1_000))
      }
      await this.accept(spec as RunSpec)
    } catch (error) {
      this.#resources.logger.error('a run cannot be accepted: the bridge is told to start it again', { ...run, error })
      await sleep(RETRY_MS)
      this.reports.declined(run)
    } finally {
      this.#arriving.delete(deployment_id)
    }
  }

  /**
   * Resolves with `accepted` when the run is in a journal, also if it was known. Resolves with `stale` if a newer run of the
   * deployment is known or this run was stopped. A replaced run is killed before the new one starts.
   */
  async accept(spec: RunSpec): Promise<'accepted' | 'stale'> {
    const known = this.#entries.get(spec.deployment_id)
    const past = this.#past.get(spec.deployment_id)
    if (past && (past.epoch > spec.epoch || (past.epoch === spec.epoch && !past.finished))) return 'stale'
    if (past?.epoch === spec.epoch) return 'accepted'
    if (known && known.epoch > spec.epoch) return 'stale'
    if (known && known.epoch === spec.epoch) {
      await known.lastChange
      return 'accepted'
    }
    const file = path.join(this.#folder, `${spec.deployment_id}.${spec.epoch}.journal`)
    const entry: KnownRun = { epoch: spec.epoch, file, hosted: null, lastChange: Promise.resolve() }
    this.#entries.set(spec.deployment_id, entry)
    const replaced = known ? this.#discard(known, 'replaced by a newer run') : null
    await this.#inTurn(entry, async () => {
      entry.hosted = await HostedRun.create(spec, file, this.#resources, this.#hooksOf(entry, spec.deployment_id))
    }).catch((error) => {
      if (this.#entries.get(spec.deployment_id) === entry) this.#entries.delete(spec.deployment_id)
      throw error
    })
    this.#resources.logger.info('run accepted', { deployment_id: spec.deployment_id, epoch: spec.epoch })
    const { hosted } = entry
    void Promise.resolve(replaced).then(() => this.#inTurn(entry, async () => this.#begin(entry, hosted)))
    return 'accepted'
  }

  /**
   * Kills and forgets a run, and refuses it from now on. Newer runs of the deployment continue. Then reports the steps whose
   * commands may still run.
   */
  stop(run: RunRef, reason: string): void {
    const entry = this.#entries.get(run.deployment_id)
    this.#remember(run, { finished: false })
    if (!entry || entry.epoch > run.epoch) return
    this.#resources.logger.info('run stopped', { ...run, reason })
    this.#entries.delete(run.deployment_id)
    void this.#discard(entry, reason).then(
      (unconfirmed) => {
        if (unconfirmed) this.reports.stopped(run, unconfirmed)
      },
      () => {},
    )
  }

  /** Applies the answer to a sync: stops unwanted runs and resumes restored ones. */
  reconcile(reported: readonly RunRef[], unwanted: SyncResponse['stop']): void {
    // Syncs go on while a stopping instance kills its commands. They must not resume a run that is suspended already.
    this.#mayRun = !this.#stopping
    for (const { reason, ...run } of unwanted) this.stop(run, stopText(reason))
    for (const { deployment_id, epoch } of reported) {
      const entry = this.#entries.get(deployment_id)
      if (entry && entry.epoch === epoch) void this.#inTurn(entry, () => this.#resume(entry, deployment_id))
    }
  }

  /** Kills all commands, because another instance may start them soon. The runs resume after the next heartbeat. */
  async fence(): Promise<void> {
    this.#mayRun = false
    const kill = new Kill('killed: the instance lost contact with Slipway', FENCE_GRACE_MS)
    await this.#suspendAll(kill, new Date().toISOString())
  }

  /**
   * Stops the instance: no command starts, and running commands are killed after `endCommandsMs`. A restart resumes the runs. Stopped
   * runs still send their last output, because a restart would not.
   */
  async shutDown(endCommandsMs: number): Promise<void> {
    this.#stopping = true
    this.#mayRun = false
    const paused = Promise.all([...this.#entries.values()].map((entry) => entry.hosted?.pause()))
    let timer: NodeJS.Timeout | undefined
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, endCommandsMs)
    })
    await Promise.race([paused, late])
    clearTimeout(timer)
    const kill = new Kill('killed: the instance is being stopped', KILL_GRACE_MS)
    await Promise.all([this.#suspendAll(kill), ...this.#discards])
  }

  async #find(file: string): Promise<void> {
    const header = (await readHeader(file).catch(() => null))?.header
    const known = header && this.#entries.get(header.deployment_id)
    if (!header || (known && known.epoch > header.epoch)) return rm(file)
    if (known) await rm(known.file)
    this.#entries.set(header.deployment_id, { epoch: header.epoch, file, hosted: null, lastChange: Promise.resolve() })
  }

  async #resume(entry: KnownRun, deploymentId: string): Promise<void> {
    if (entry.hosted || !this.#isCurrent(entry, deploymentId) || !this.#mayRun) return
    const about = { deployment_id: deploymentId, epoch: entry.epoch }
    try {
      entry.hosted = await HostedRun.restore(entry.file, this.#resources, this.#hooksOf(entry, deploymentId))
    } catch (error) {
      // Without its journal the run cannot resume. The bridge starts it again, here or on another instance.
      this.#resources.logger.error('a journal cannot be read and is deleted: the bridge starts the run again', {
        ...about,
        error,
      })
      this.#entries.delete(deploymentId)
      await rm(entry.file, { force: true })
      return
    }
    this.#resources.logger.info('run resumed from its journal', about)
    this.#begin(entry, entry.hosted)
  }

  /** Starts the run unless it was replaced or stopped in the meantime. */
  #begin(entry: KnownRun, hosted: HostedRun | null): void {
    if (!hosted || entry.hosted !== hosted) return
    if (this.#mayRun) hosted.start()
    else if (!this.#stopping)
      void this.#inTurn(entry, () => this.#suspend(entry, new Kill('the instance has lost its leases', 0)))
  }

  async #suspendAll(kill: Kill, note?: string): Promise<void> {
    await Promise.all(
      [...this.#entries.values()].map((entry) => this.#inTurn(entry, () => this.#suspend(entry, kill, note))),
    )
  }

  async #suspend(entry: KnownRun, kill: Kill, note?: string): Promise<void> {
    const { hosted } = entry
    entry.hosted = null
    await hosted?.suspend(kill, note)
  }

  #discard(entry: KnownRun, reason: string): UnconfirmedSteps {
    const unconfirmed = this.#inTurn(entry, async () => {
      const { hosted } = entry
      entry.hosted = null
      if (hosted) return hosted.discard(new Kill(`killed: ${reason}`, KILL_GRACE_MS))
      await rm(entry.file, { force: true })
      return null
    })
    const kept = unconfirmed.catch(() => {}).finally(() => this.#discards.delete(kept))
    this.#discards.add(kept)
    return unconfirmed
  }

  #hooksOf(entry: KnownRun, deploymentId: string) {
    const ref = { deployment_id: deploymentId, epoch: entry.epoch }
    return {
      onDelivered: async () => {
        if (!this.#isCurrent(entry, deploymentId)) return
        this.#resources.logger.info('run finished', ref)
        this.#entries.delete(deploymentId)
        this.#remember(ref, { finished: true })
        await this.#discard(entry, 'finished')
      },
      onFenced: () => {
        if (this.#isCurrent(entry, deploymentId)) this.stop(ref, stopText('unknown'))
      },
    }
  }

  #isCurrent(entry: KnownRun, deploymentId: string): boolean {
    return this.#entries.get(deploymentId) === entry
  }

  #remember({ deployment_id, epoch }: RunRef, end: { finished: boolean }): void {
    if ((this.#past.get(deployment_id)?.epoch ?? 0) > epoch) return
    this.#past.set(deployment_id, { epoch, ...end })
  }

  #inTurn<T>(entry: KnownRun, task: () => Promise<T> | T): Promise<T> {
    const result = entry.lastChange.then(task)
    entry.lastChange = result.catch((error) => this.#resources.logger.error('a change of a run failed', { error }))
    return result
  }
}
