import type { RunRef, RunSpec } from '@slipway/contracts'
import type { StepRef } from '@slipway/domain'
import type { Kill, Transport } from '@slipway/execution'
import { forRequest, type KeyRing, type Logger, SpanKind, traced } from '@slipway/runtime'
import type { PostedBatch } from '../bridge/bridge-client.ts'
import type { ContentCache } from '../content/cache.ts'
import { RunFiles } from '../content/run-files.ts'
import { type Behind, EventLog } from '../events/event-log.ts'
import { Sender } from '../events/sender.ts'
import { Journal } from '../journal/journal.ts'
import type { JournalDisk } from '../journal/journal-disk.ts'
import type { JournalSpace } from '../journal/journal-space.ts'
import { findWaiting, readHeader, readRecords } from '../journal/read-journal.ts'
import { type Header, sealedUnder } from '../journal/records.ts'
import type { Transports } from '../transports/transports.ts'
import { CommandRunner } from './command-runner.ts'
import { Progress } from './progress.ts'
import { Run } from './run.ts'
import { StepValues } from './step-values.ts'

/** How often at most the bridge is told that a target answers. */
const SEEN_EVERY_MS = 30_000
/** How long at most the last output of a stopped run is sent. The bridge takes it no longer than that. */
const LAST_OUTPUT_MS = 15_000

export interface Hosting {
  keys: KeyRing
  transports: Transports
  content: ContentCache
  parallelLimit: number
  /** How much of a command's output is kept. */
  outputBytes: number
  space: JournalSpace
  disk: JournalDisk
  /** Posts events of a run; see Sender. */
  post(ref: RunRef, batch: PostedBatch): Promise<number>
  logger: Logger
  /** A state that only a restart can mend, such as a disk that fails. */
  fatal(error: unknown): void
}

export interface HostedRunHooks {
  /** The bridge has all of it. */
  onDelivered(): void
  /** The bridge has given it to somebody else. */
  onFenced(): void
}

/** A run with all that it needs here: journal, event log, sender, connections. */
export class HostedRun {
  readonly ref: RunRef
  readonly #journal: Journal
  readonly #events: EventLog
  readonly #hosting: Hosting
  readonly #hooks: HostedRunHooks
  readonly #spec: RunSpec
  readonly #progress: Progress
  readonly #deadline: string | null
  readonly #transports = new Map<number, Transport>()
  #run: Run | null = null
  #sender: Sender | null = null
  #killed = false
  /** Ends the run's span. */
  #leave: () => void = () => {}

  private constructor(
    own: { spec: RunSpec; deadline: string | null; journal: Journal; progress: Progress; behind: Behind | null },
    hosting: Hosting,
    hooks: HostedRunHooks,
  ) {
    this.ref = refOf(own.spec)
    this.#spec = own.spec
    this.#deadline = own.deadline
    this.#journal = own.journal
    this.#progress = own.progress
    this.#hosting = hosting
    this.#hooks = hooks
    const { nextEvent, nextLine, acknowledged } = own.progress
    const { behind } = own
    this.#events = new EventLog(own.journal, hosting, { nextEvent, nextLine, acknowledged, behind })
  }

  /** Takes a new run. When this resolves, a restart knows of it. */
  static async create(spec: RunSpec, file: string, hosting: Hosting, hooks: HostedRunHooks): Promise<HostedRun> {
    const { remaining_seconds } = spec
    const deadline = remaining_seconds === null ? null : new Date(Date.now() + remaining_seconds * 1_000).toISOString()
    const header: Header = {
      journal: 1,
      ...refOf(spec),
      deadline,
      sealed_spec: hosting.keys.seal(JSON.stringify(spec), sealedUnder(refOf(spec))),
    }
    const journal = await Journal.create(file, header, journalOptions(hosting))
    return new HostedRun({ spec, deadline, journal, progress: new Progress(spec), behind: null }, hosting, hooks)
  }

  /** Takes up a run where its journal ends. Throws when the journal cannot be read. */
  static async restore(file: string, hosting: Hosting, hooks: HostedRunHooks): Promise<HostedRun> {
    const read = await readHeader(file)
    if (!read) throw new Error(`${file} is no journal`)
    const { header } = read
    const spec = JSON.parse(hosting.keys.openText(header.sealed_spec, sealedUnder(header))) as RunSpec
    const progress = new Progress(spec)
    let length = read.end
    for await (const { record, end } of readRecords(file)) {
      progress.add(record)
      length = end
    }
    const journal = await Journal.reopen(file, length, journalOptions(hosting))
    const behind = await findWaiting(file, progress.acknowledged)
    return new HostedRun({ spec, deadline: header.deadline, journal, progress, behind }, hosting, hooks)
  }

  /** The number of the event after the last one that the bridge has. */
  get acknowledged(): number {
    return this.#events.acknowledged
  }

  status() {
    return {
      ...this.ref,
      phase: this.#run?.phase ?? (this.#progress.finished ? 'ended' : 'waiting'),
      active_commands: this.#run?.active ?? 0,
      next_event: this.#events.next,
      acknowledged_event: this.#events.acknowledged,
    }
  }

  /** Begins, unless it was killed before. */
  start(): void {
    if (this.#killed) return
    const { logger, post } = this.#hosting
    this.#sender = new Sender({
      log: this.#events,
      post: (batch) => post(this.ref, batch),
      onFenced: this.#hooks.onFenced,
      logger: logger.child(this.ref),
    })
    void this.#sender.delivered.then(this.#hooks.onDelivered)
    if (this.#progress.finished) this.#sender.complete()
    else this.#startRun()
  }

  #startRun(): void {
    const { content, parallelLimit, outputBytes, disk, fatal } = this.#hosting
    const events = this.#events
    const values = new StepValues(this.#spec)
    this.#abandonLost()
    this.#run = new Run({
      spec: this.#spec,
      progress: this.#progress,
      remainingMs: this.#deadline === null ? null : Date.parse(this.#deadline) - Date.now(),
      parallelLimit,
      events,
      disk,
      values,
      commands: new CommandRunner({
        spec: this.#spec,
        values,
        events,
        files: new RunFiles(content, this.#spec.options.bypass_cache),
        outputBytes,
        disk,
        transportOf: (target) => this.#transportOf(target),
      }),
      onFinished: () => {
        this.#closeTransports()
        this.#sender?.complete()
        this.#leave()
      },
      onError: fatal,
    })
    const run = this.#run
    void this.#asSpan(() => run.start())
  }

  /** Commands that an earlier process or instance had under way count as failed: what is left of them ends. */
  #abandonLost(): void {
    const { deployment_id: deploymentId, epoch } = this.ref
    const abandon = (step: StepRef, attempt: number, rollback: boolean) => {
      const { target, action } = step
      this.#transportOf(target).abandon?.({ deploymentId, epoch, target, action, attempt, rollback })
    }
    for (const open of this.#progress.openAttempts.values()) abandon(open, open.attempt, false)
    for (const step of this.#progress.openRollbacks.values()) abandon(step, 0, true)
    // The specification does not say which commands a lost instance was running. A new attempt ends the former one.
    for (const step of this.#spec.steps) if (step.state === 'failed') abandon(step, step.retry_count, false)
  }

  /** What the run does, and what it says of it, belongs to the request that it came from. */
  #asSpan(begin: () => void): Promise<void> {
    const { deployment_id, epoch, request_id, traceparent = null } = this.#spec
    const attributes = { 'slipway.deployment_id': deployment_id, 'slipway.epoch': epoch }
    return forRequest({ request_id, traceparent }, () =>
      traced('run deployment', { kind: SpanKind.INTERNAL, attributes }, () => {
        const left = new Promise<void>((resolve) => {
          this.#leave = resolve
        })
        begin()
        return left
      }),
    )
  }

  /** Starts nothing new and lets what runs end by itself. */
  async pause(): Promise<void> {
    await this.#run?.pause()
  }

  /** Kills what runs and closes the journal: `restore` can go on from it. */
  async suspend(kill: Kill, note?: string): Promise<void> {
    this.#killed = true
    await Promise.all([this.#run?.kill(kill), this.#sender?.stop()])
    this.#close()
    if (note !== undefined) this.#events.note({ fenced: note })
    await this.#journal.close()
  }

  /** Kills what runs, sends the last output, and forgets all of it. Gives the steps whose commands may still run. */
  async discard(kill: Kill): Promise<readonly StepRef[]> {
    this.#killed = true
    const killed = this.#run?.kill(kill)
    // After the kill has begun: what the bridge takes from now on must not start a command here.
    this.#sender?.afterStop()
    const unconfirmed = await killed
    await this.#sender?.finish(LAST_OUTPUT_MS)
    this.#close()
    await this.#journal.remove()
    return unconfirmed ?? []
  }

  #close(): void {
    this.#closeTransports()
    this.#events.close()
    this.#leave()
  }

  #transportOf(target: number): Transport {
    const known = this.#transports.get(target)
    if (known) return known
    const planned = this.#spec.targets[target]
    if (!planned) throw new Error('A target outside the plan')
    const { connection } = planned
    const pinned = this.#progress.hostKeys.get(target)
    const trusted = connection.type === 'ssh' && pinned !== undefined ? { host_key: pinned, ...connection } : connection
    const transport = this.#hosting.transports.to({ ...planned, connection: trusted }, this.#newsOf(target))
    this.#transports.set(target, transport)
    return transport
  }

  #newsOf(target: number) {
    const events = this.#events
    let seenAt = Number.NEGATIVE_INFINITY
    return {
      onHostKey: (host_key: string) =>
        events.emit({ type: 'host_key', at: new Date().toISOString(), target, host_key }),
      onSeen: () => {
        if (this.#killed || performance.now() - seenAt < SEEN_EVERY_MS) return
        seenAt = performance.now()
        events.emit({ type: 'target_seen', at: new Date().toISOString(), target })
      },
    }
  }

  #closeTransports(): void {
    for (const transport of this.#transports.values()) transport.close()
    this.#transports.clear()
  }
}

const journalOptions = ({ disk, fatal }: Hosting) => ({ disk, onFailure: fatal })

function refOf({ deployment_id, epoch }: RunRef): RunRef {
  return { deployment_id, epoch }
}
