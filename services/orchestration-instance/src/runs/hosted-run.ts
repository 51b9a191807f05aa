import type { Kill, Transport } from '@slipway/commands'
import type { PartialLine, RunRef, RunSpec } from '@slipway/contracts'
import type { StepRef } from '@slipway/domain'
import { forRequest, type KeyRing, type Logger, SpanKind, traced } from '@slipway/runtime'
import type { PostedBatch } from '../bridge/bridge-client.ts'
import type { ContentCache } from '../content/cache.ts'
import { RunFiles } from '../content/run-files.ts'
import { EventLog, type EventsOnDisk } from '../events/event-log.ts'
import { PartialLineSender } from '../events/partial-line-sender.ts'
import { Sender } from '../events/sender.ts'
import { Journal } from '../journal/journal.ts'
import type { JournalDisk } from '../journal/journal-disk.ts'
import type { JournalSpace } from '../journal/journal-space.ts'
import { locateEvents, readHeader, readRecords } from '../journal/read-journal.ts'
import { type Header, sealedUnder } from '../journal/records.ts'
import type { Transports } from '../transports/transports.ts'
import { CommandRunner } from './command-runner.ts'
import { Progress } from './progress.ts'
import { Run } from './run.ts'
import { StepValues } from './step-values.ts'

/** The shortest time between two `target_seen` events of a target. */
const SEEN_EVERY_MS = 30_000
/** How long a stopped run may send its last output. The bridge accepts it for the same time. */
const LAST_OUTPUT_MS = 15_000

export interface RunResources {
  keys: KeyRing
  transports: Transports
  content: ContentCache
  parallelLimit: number
  /** The limit of the output of one command. */
  outputBytes: number
  space: JournalSpace
  disk: JournalDisk
  /** Posts a batch of run events. Resolves with the number of the next event that the bridge expects. */
  post(ref: RunRef, batch: PostedBatch): Promise<number>
  postPartialLines(ref: RunRef, lines: PartialLine[]): Promise<void>
  logger: Logger
  /** Ends the process: only a restart can help, for example after a disk error. */
  fatal(error: unknown): void
}

interface HostedRunHooks {
  /** The bridge has acknowledged every event. */
  onDelivered(): void
  /** The lease of the run has ended. */
  onFenced(): void
}

/** A run with its journal, event log, sender and connections. */
export class HostedRun {
  readonly ref: RunRef
  readonly #journal: Journal
  readonly #events: EventLog
  readonly #partialLines: PartialLineSender
  readonly #resources: RunResources
  readonly #hooks: HostedRunHooks
  readonly #spec: RunSpec
  readonly #progress: Progress
  readonly #deadline: string | null
  readonly #transports = new Map<number, Transport>()
  #run: Run | null = null
  #sender: Sender | null = null
  #killed = false
  #endSpan: () => void = () => {}

  private constructor(
    own: { spec: RunSpec; deadline: string | null; journal: Journal; progress: Progress; onDisk: EventsOnDisk | null },
    resources: RunResources,
    hooks: HostedRunHooks,
  ) {
    this.ref = refOf(own.spec)
    this.#spec = own.spec
    this.#deadline = own.deadline
    this.#journal = own.journal
    this.#progress = own.progress
    this.#resources = resources
    this.#hooks = hooks
    const { nextEvent, nextLine, acknowledged } = own.progress
    const { onDisk } = own
    this.#partialLines = new PartialLineSender({
      post: (lines) => resources.postPartialLines(this.ref, lines),
      logger: resources.logger,
    })
    this.#events = new EventLog(own.journal, resources, { nextEvent, nextLine, acknowledged, onDisk })
  }

  /** Accepts a new run. When this resolves, the run survives a restart. */
  static async create(spec: RunSpec, file: string, resources: RunResources, hooks: HostedRunHooks): Promise<HostedRun> {
    const { remaining_seconds } = spec
    const deadline = remaining_seconds === null ? null : new Date(Date.now() + remaining_seconds * 1_000).toISOString()
    const header: Header = {
      journal: 1,
      ...refOf(spec),
      deadline,
      sealed_spec: resources.keys.seal(JSON.stringify(spec), sealedUnder(refOf(spec))),
    }
    const journal = await Journal.create(file, header, journalOptions(resources))
    return new HostedRun({ spec, deadline, journal, progress: new Progress(spec), onDisk: null }, resources, hooks)
  }

  /** Resumes a run from its journal. Throws when the journal cannot be read. */
  static async restore(file: string, resources: RunResources, hooks: HostedRunHooks): Promise<HostedRun> {
    const read = await readHeader(file)
    if (!read) throw new Error(`${file} has no journal header`)
    const { header } = read
    const spec = JSON.parse(resources.keys.openText(header.sealed_spec, sealedUnder(header))) as RunSpec
    const progress = new Progress(spec)
    let length = read.end
    for await (const { record, end } of readRecords(file)) {
      progress.add(record)
      length = end
    }
    const journal = await Journal.reopen(file, length, journalOptions(resources))
    const onDisk = await locateEvents(file, progress.acknowledged)
    return new HostedRun({ spec, deadline: header.deadline, journal, progress, onDisk }, resources, hooks)
  }

  /** The number of the first event that the bridge has not acknowledged. */
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

  /** Does nothing if the run was killed before. */
  start(): void {
    if (this.#killed) return
    const { logger, post } = this.#resources
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
    const { content, parallelLimit, outputBytes, disk, fatal } = this.#resources
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
        partialLines: this.#partialLines,
        files: new RunFiles(content, this.#spec.options.bypass_cache),
        outputBytes,
        disk,
        transportOf: (target) => this.#transportOf(target),
      }),
      onFinished: () => {
        this.#closeTransports()
        this.#sender?.complete()
        this.#endSpan()
      },
      onError: fatal,
    })
    const run = this.#run
    void this.#asSpan(() => run.start())
  }

  /** Ends commands that an earlier process or instance started. They count as failed. */
  #abandonLost(): void {
    const { deployment_id: deploymentId, epoch } = this.ref
    const abandon = (step: StepRef, attempt: number, rollback: boolean) => {
      const { target, action } = step
      this.#transportOf(target).abandon?.({ deploymentId, epoch, target, action, attempt, rollback })
    }
    const { openAttempts, openRollbacks } = this.#progress
    // A command that never ran starts later with the same number.
    for (const open of openAttempts.values()) if (!open.neverRan) abandon(open, open.attempt, false)
    for (const open of openRollbacks.values()) if (!open.neverRan) abandon(open, 0, true)
    // The specification does not say which commands a lost instance ran. Starting the next attempt ends the one before.
    for (const step of this.#spec.steps) if (step.state === 'failed') abandon(step, step.retry_count, false)
  }

  /** Adds spans and log lines of the run to the trace of the request that created the deployment. */
  #asSpan(begin: () => void): Promise<void> {
    const { deployment_id, epoch, request_id, traceparent = null } = this.#spec
    const attributes = { 'slipway.deployment_id': deployment_id, 'slipway.epoch': epoch }
    return forRequest({ request_id, traceparent }, () =>
      traced('run deployment', { kind: SpanKind.INTERNAL, attributes }, () => {
        const ended = new Promise<void>((resolve) => {
          this.#endSpan = resolve
        })
        begin()
        return ended
      }),
    )
  }

  /** Starts no more commands. Resolves when the running commands have ended. */
  async pause(): Promise<void> {
    await this.#run?.pause()
  }

  /** Kills the commands and closes the journal. `restore` resumes the run from the journal. */
  async suspend(kill: Kill, note?: string): Promise<void> {
    this.#killed = true
    await Promise.all([this.#run?.kill(kill), this.#sender?.stop()])
    this.#close()
    // A run that was restored and not started may not know the last acknowledgement.
    if (this.#run) this.#events.note({ suspended: true, acknowledged: this.#events.acknowledged })
    if (note !== undefined) this.#events.note({ fenced: note })
    await this.#journal.close()
  }

  /** Kills the commands, sends the last output and deletes the journal. Resolves with the steps whose commands may still run. */
  async discard(kill: Kill): Promise<readonly StepRef[]> {
    this.#killed = true
    const killed = this.#run?.kill(kill)
    // The kill comes first: an event that the bridge acknowledges from now on must not start a command.
    this.#sender?.afterStop()
    const unconfirmed = await killed
    await this.#sender?.finish(LAST_OUTPUT_MS)
    this.#close()
    await this.#journal.remove()
    return unconfirmed ?? []
  }

  #close(): void {
    this.#closeTransports()
    this.#partialLines.close()
    this.#events.close()
    this.#endSpan()
  }

  #transportOf(target: number): Transport {
    const known = this.#transports.get(target)
    if (known) return known
    const planned = this.#spec.targets[target]
    if (!planned) throw new Error(`targets[${target}] is not in the specification of the run`)
    const { connection } = planned
    const pinned = this.#progress.hostKeys.get(target)
    const trusted = connection.type === 'ssh' && pinned !== undefined ? { host_key: pinned, ...connection } : connection
    const transport = this.#resources.transports.to({ ...planned, connection: trusted }, this.#targetEvents(target))
    this.#transports.set(target, transport)
    return transport
  }

  #targetEvents(target: number) {
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

const journalOptions = ({ disk, fatal }: RunResources) => ({ disk, onFailure: fatal })

function refOf({ deployment_id, epoch }: RunRef): RunRef {
  return { deployment_id, epoch }
}
