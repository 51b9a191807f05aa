import { mkdir, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import type { RunRef, RunSpec } from '@slipway/contracts'
import type { StepRef } from '@slipway/domain'
import { KILL_GRACE_MS, Kill } from '@slipway/execution'
import { RecentMap } from '@slipway/runtime'
import { readHeader } from '../journal/read-journal.ts'
import { HostedRun, type Hosting } from './hosted-run.ts'

/** When fenced there are seconds left before another instance may start the same commands. */
const FENCE_GRACE_MS = 3_000
/** How long commands may end by themselves when the instance is stopped; then they have a second more than TERM asks. */
const DRAIN_MS = 6_000
/** Ended runs to remember, so that a late or repeated call does not begin them again. */
const REMEMBERED = 10_000

/** `held`: known from its journal only, until the bridge says that it is still ours. */
interface Entry {
  epoch: number
  file: string
  hosted: HostedRun | null
  /** Its changes happen one after the other. */
  turn: Promise<unknown>
}

/** The steps whose commands may still run after the kill; null where nothing is known of them. */
type Ending = Promise<readonly StepRef[] | null>

const UNKNOWN: Ending = Promise.resolve(null)

/** All runs of this instance. */
export class Runs {
  readonly #folder: string
  readonly #hosting: Hosting
  readonly #entries = new Map<string, Entry>()
  /** The highest epoch of each deployment that has ended here or was stopped. */
  readonly #past = new RecentMap<string, { epoch: number; finished: boolean; ending: Ending }>(REMEMBERED)
  #mayRun = false
  #draining = false

  private constructor(folder: string, hosting: Hosting) {
    this.#folder = folder
    this.#hosting = hosting
  }

  /** Finds the journals in the folder. Their runs are held until the first heartbeat. */
  static async open(folder: string, hosting: Hosting): Promise<Runs> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const runs = new Runs(folder, hosting)
    for (const name of await readdir(folder)) {
      const file = path.join(folder, name)
      if (name.endsWith('.draft')) await rm(file)
      else if (name.endsWith('.journal')) await runs.#find(file)
    }
    return runs
  }

  /** Runs to report in heartbeats. */
  get held(): RunRef[] {
    return [...this.#entries].map(([deployment_id, { epoch }]) => ({ deployment_id, epoch }))
  }

  status() {
    return [...this.#entries].map(([deployment_id, { epoch, hosted }]) => {
      return hosted?.status() ?? { deployment_id, epoch, phase: 'held' }
    })
  }

  /** The journal of a run; null when there is none. */
  journalOf(deploymentId: string): { epoch: number; file: string } | null {
    return this.#entries.get(deploymentId) ?? null
  }

  /**
   * Takes a run; one that it replaces is killed before it starts. Resolves when a restart would know of it: `accepted`
   * (also when it is known already) or `stale` when a newer one is known, or this one was stopped.
   */
  async accept(spec: RunSpec): Promise<'accepted' | 'stale'> {
    const known = this.#entries.get(spec.deployment_id)
    const past = this.#past.get(spec.deployment_id)
    if (past && (past.epoch > spec.epoch || (past.epoch === spec.epoch && !past.finished))) return 'stale'
    if (past?.epoch === spec.epoch) return 'accepted'
    if (known && known.epoch > spec.epoch) return 'stale'
    if (known && known.epoch === spec.epoch) {
      await known.turn
      return 'accepted'
    }
    const file = path.join(this.#folder, `${spec.deployment_id}.${spec.epoch}.journal`)
    const entry: Entry = { epoch: spec.epoch, file, hosted: null, turn: Promise.resolve() }
    this.#entries.set(spec.deployment_id, entry)
    const replaced = known ? this.#discard(known, 'replaced by a newer run') : null
    await this.#inTurn(entry, async () => {
      entry.hosted = await HostedRun.create(spec, file, this.#hosting, this.#hooksOf(entry, spec.deployment_id))
    }).catch((error) => {
      if (this.#entries.get(spec.deployment_id) === entry) this.#entries.delete(spec.deployment_id)
      throw error
    })
    this.#hosting.logger.info('run accepted', { deployment_id: spec.deployment_id, epoch: spec.epoch })
    const { hosted } = entry
    void Promise.resolve(replaced).then(() => this.#inTurn(entry, async () => this.#begin(entry, hosted)))
    return 'accepted'
  }

  /**
   * Kills and forgets a run, and refuses it from now on. Newer runs are not touched. Returns whether it was there, and
   * what its end comes to, also when it was stopped before.
   */
  stop(ref: RunRef, reason: string): { stopped: boolean; ending: Ending } {
    const past = this.#past.get(ref.deployment_id)
    const entry = this.#entries.get(ref.deployment_id)
    if (!entry || entry.epoch > ref.epoch) {
      const ending = past?.epoch === ref.epoch ? past.ending : UNKNOWN
      this.#remember(ref, { finished: false, ending })
      return { stopped: false, ending }
    }
    this.#hosting.logger.info('run stopped', { ...ref, reason })
    this.#entries.delete(ref.deployment_id)
    const ending = this.#discard(entry, reason).catch(() => null)
    this.#remember(ref, { finished: false, ending })
    return { stopped: true, ending }
  }

  /** The bridge has heard of these runs: those that it does not want end, those that were held go on. */
  heard(reported: readonly RunRef[], unwanted: readonly RunRef[]): void {
    this.#mayRun = true
    for (const ref of unwanted) this.stop(ref, 'the run belongs to another instance')
    for (const { deployment_id, epoch } of reported) {
      const entry = this.#entries.get(deployment_id)
      if (entry && entry.epoch === epoch) void this.#inTurn(entry, () => this.#resume(entry, deployment_id))
    }
  }

  /** Kills all commands: what they do may soon be done by another instance. The runs are held until the next heartbeat. */
  async fence(): Promise<void> {
    this.#mayRun = false
    const kill = new Kill('killed: the instance lost contact with Slipway', FENCE_GRACE_MS)
    await this.#suspendAll(kill, new Date().toISOString())
  }

  /** The instance stops: nothing new starts, what runs has a while to end, the rest is killed. A restart goes on. */
  async drain(): Promise<void> {
    this.#draining = true
    this.#mayRun = false
    const paused = Promise.all([...this.#entries.values()].map((entry) => entry.hosted?.pause()))
    let timer: NodeJS.Timeout | undefined
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, DRAIN_MS)
    })
    await Promise.race([paused, late])
    clearTimeout(timer)
    await this.#suspendAll(new Kill('killed: the instance is being stopped', KILL_GRACE_MS))
  }

  async #find(file: string): Promise<void> {
    const header = (await readHeader(file).catch(() => null))?.header
    const known = header && this.#entries.get(header.deployment_id)
    if (!header || (known && known.epoch > header.epoch)) return rm(file)
    if (known) await rm(known.file)
    this.#entries.set(header.deployment_id, { epoch: header.epoch, file, hosted: null, turn: Promise.resolve() })
  }

  async #resume(entry: Entry, deploymentId: string): Promise<void> {
    if (entry.hosted || !this.#isCurrent(entry, deploymentId) || !this.#mayRun) return
    const about = { deployment_id: deploymentId, epoch: entry.epoch }
    try {
      entry.hosted = await HostedRun.restore(entry.file, this.#hosting, this.#hooksOf(entry, deploymentId))
    } catch (error) {
      // Without its journal the run cannot go on here; the bridge sends it again, or another instance takes it.
      this.#hosting.logger.error('a journal cannot be read and is given up', { ...about, error })
      this.#entries.delete(deploymentId)
      await rm(entry.file, { force: true })
      return
    }
    this.#hosting.logger.info('run resumed from its journal', about)
    this.#begin(entry, entry.hosted)
  }

  /** Starts it, unless something happened to it meanwhile. */
  #begin(entry: Entry, hosted: HostedRun | null): void {
    if (!hosted || entry.hosted !== hosted) return
    if (this.#mayRun) hosted.start()
    else if (!this.#draining) void this.#inTurn(entry, () => this.#suspend(entry, new Kill('held', 0)))
  }

  async #suspendAll(kill: Kill, note?: string): Promise<void> {
    await Promise.all(
      [...this.#entries.values()].map((entry) => this.#inTurn(entry, () => this.#suspend(entry, kill, note))),
    )
  }

  async #suspend(entry: Entry, kill: Kill, note?: string): Promise<void> {
    const { hosted } = entry
    entry.hosted = null
    await hosted?.suspend(kill, note)
  }

  #discard(entry: Entry, reason: string): Ending {
    return this.#inTurn(entry, async () => {
      const { hosted } = entry
      entry.hosted = null
      if (hosted) return hosted.discard(new Kill(`killed: ${reason}`, KILL_GRACE_MS))
      await rm(entry.file, { force: true })
      return null
    })
  }

  #hooksOf(entry: Entry, deploymentId: string) {
    const ref = { deployment_id: deploymentId, epoch: entry.epoch }
    return {
      onDelivered: () => {
        if (!this.#isCurrent(entry, deploymentId)) return
        this.#hosting.logger.info('run finished', ref)
        this.#entries.delete(deploymentId)
        this.#remember(ref, { finished: true, ending: UNKNOWN })
        void this.#discard(entry, 'finished')
      },
      onFenced: () => {
        if (this.#isCurrent(entry, deploymentId)) this.stop(ref, 'the run belongs to another instance')
      },
    }
  }

  #isCurrent(entry: Entry, deploymentId: string): boolean {
    return this.#entries.get(deploymentId) === entry
  }

  #remember({ deployment_id, epoch }: RunRef, end: { finished: boolean; ending: Ending }): void {
    if ((this.#past.get(deployment_id)?.epoch ?? 0) > epoch) return
    this.#past.set(deployment_id, { epoch, ...end })
  }

  #inTurn<T>(entry: Entry, task: () => Promise<T> | T): Promise<T> {
    const result = entry.turn.then(task)
    entry.turn = result.catch((error) => this.#hosting.logger.error('a change of a run failed', { error }))
    return result
  }
}
