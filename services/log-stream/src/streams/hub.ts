import type { StoredLine, StreamBatch, StreamPartialLine } from '@slipway/contracts'
import type { Database } from '@slipway/database'
import type { Logger } from '@slipway/runtime'
import { findActions, findTargets } from '../deployments/deployments.sql.ts'
import { chunksFrom, type Head, outputsOf, type Snapshot, type StepRow, takeSnapshot } from '../deployments/queries.ts'
import { type Outputs, PlanIndex, partialLineFrame, progressFrame, stateFrame, stepFrame } from './frames.ts'
import { type Changes, KnownState, type StepRecord } from './known-state.ts'
import { missed } from './metrics.ts'
import { Pages } from './pages.ts'
import { encodeLines, RecentFrames } from './recent-frames.ts'

/** A larger change is not kept among the recent frames. Each client reads it from the database at its own pace. */
const MAX_TAPE_LINES = 2_000
const MAX_TAPE_STEPS = 2_000

/** The most batches that are kept during a snapshot. */
const MAX_EARLY = 256

const BEGUN = new Set(['running', 'rolling_back'])
/** States after the end of a command. */
const COMMAND_ENDED = new Set(['completed', 'failed', 'cancelled'])
/** How many steps are sent at a time to a client that is behind. Their output stays in memory until the client has it. */
const STEPS_AT_ONCE = 100

interface HubOptions {
  database: Database
  logger: Logger
  /** Called if the database has events that Redis did not deliver. */
  onMissed(): void
}

/**
 * One deployment with stream clients. Batches from Redis are the fast path; snapshots of the database are the truth. Every
 * change has a number (`seq`), which a client compares with its own.
 *
 *     starting ──first snapshot──▶ following ──a gap, or the database is ahead──▶ syncing ──snapshot──▶ following
 *     starting, syncing: batches are kept, and the snapshot decides which of them are new
 *     following:         the next batch is sent at once, a repeated one is dropped
 *     syncing:           if the database cannot be read, the next `notice` tries again
 *     ended:             a snapshot is final and no output can come; `ending` is the last state that clients receive
 */
export class Hub {
  readonly id: string
  readonly places: PlanIndex
  readonly knownState: KnownState
  readonly recentFrames = new RecentFrames()
  readonly pages: Pages
  seq = 0
  /** The last frames of the stream, after the deployment has ended. */
  ending: Buffer | null = null
  readonly #options: HubOptions
  readonly #waiting = new Set<() => void>()
  #early: StreamBatch[] = []
  /** The number of the last line of each step and stream since this hub was opened. */
  readonly #lastLines = new Map<string, number>()
  #syncing: Promise<void> | undefined
  #isRefreshDue = false
  #failed = false
  #aheadAt: number | null = null
  #started = false
  #closed = false

  private constructor(places: PlanIndex, options: HubOptions) {
    this.id = places.deploymentId
    this.places = places
    this.knownState = new KnownState(places.actionCount)
    this.pages = new Pages(places, (from, to) => chunksFrom(options.database, places.deploymentId, from, to))
    this.#options = options
  }

  /** Reads the deployment. `take` may be called from the beginning, so no batch is lost. */
  static async open(id: string, options: HubOptions): Promise<Hub> {
    const [targets, actions] = await Promise.all([
      findTargets.all(options.database, { deployment_id: id }),
      findActions.all(options.database, { deployment_id: id }),
    ])
    return new Hub(new PlanIndex(id, targets, actions), options)
  }

  /** Takes the first snapshot. Throws if the database cannot be read. */
  async start(): Promise<void> {
    await this.#snapshot(null)
    this.#started = true
    this.#takeEarly()
  }

  /** Takes a batch from Redis. It may be late, repeated, or not the next one. */
  take(batch: StreamBatch): void {
    if (this.ending || this.#closed) return
    if (this.#syncing || !this.#started) {
      this.#early.push(batch)
      // The dropped batch leaves a gap, and the hub reads a gap from the database.
      if (this.#early.length > MAX_EARLY) this.#early.shift()
      return
    }
    switch (this.knownState.compare(batch)) {
      case 'repeated':
        return
      case 'gap':
        this.sync()
        return
      case 'next': {
        const changes = this.knownState.takeBatch(batch, this.seq + 1)
        const outputs = this.#byPlace(batch.steps.flatMap(({ output, ...at }) => (output ? [{ ...at, output }] : [])))
        this.#record(changes, outputs, '', batch.first_line, batch.lines)
      }
    }
  }

  /** Takes unfinished lines from Redis. A line that is finished meanwhile, or whose command has ended, is dropped. */
  takePartialLines(lines: readonly StreamPartialLine[]): void {
    if (this.ending || this.#closed || this.#syncing || !this.#started) return
    const { knownState, places } = this
    const current = lines.filter((line) => {
      const step = knownState.steps.get(places.key({ target: line.i, action: line.a }))
      return step !== undefined && BEGUN.has(step.state) && (this.#lastLines.get(streamOf(line)) ?? -1) < line.n
    })
    if (current.length === 0) return
    const frames = current.map((line) => partialLineFrame(places, line)).join('')
    this.#append({ before: '', firstLine: knownState.nextLine, lines: [], after: frames })
  }

  /** Compares the known state with the database, and takes a snapshot if Redis did not deliver events. */
  notice({ state, epoch, next_event, awaits_output }: Head): void {
    if (this.ending || this.#syncing || !this.#started) return
    const { knownState } = this
    const isOver = knownState.isFinal && !awaits_output
    if (this.#failed || isOver || state !== knownState.state || epoch !== knownState.epoch) this.sync()
    else if (next_event > knownState.nextEvent) {
      // A batch that was just committed may still arrive. If it was missing in the last check too, it is lost.
      if (this.#aheadAt !== null && this.#aheadAt > knownState.nextEvent) {
        missed.inc()
        this.#options.onMissed()
        this.sync()
      }
      this.#aheadAt = next_event
    } else this.#aheadAt = null
  }

  /** Takes a snapshot soon, and another one if called meanwhile. */
  sync(): void {
    if (this.ending || this.#closed || !this.#started) return
    this.#isRefreshDue = true
    this.#syncing ??= this.#syncWhileWanted()
  }

  /** Resolves at the next change, or when `wake` is called. */
  changed(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve))
  }

  /** Makes all clients check for changes and pings. */
  wake(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const resolve of waiting) resolve()
  }

  close(): void {
    this.#closed = true
    this.#early = []
  }

  async #syncWhileWanted(): Promise<void> {
    try {
      while (this.#isRefreshDue && !this.#closed && !this.ending) {
        this.#isRefreshDue = false
        await this.#snapshot(this.knownState.nextLine)
      }
      this.#failed = false
    } catch (error) {
      this.#failed = true
      this.#options.logger.warn('a streamed deployment cannot be read, trying again', { deployment_id: this.id, error })
    }
    this.#syncing = undefined
    this.#takeEarly()
  }

  async #snapshot(linesFrom: number | null): Promise<void> {
    const snapshot = await takeSnapshot(this.#options.database, this.id, linesFrom, MAX_TAPE_LINES)
    const fresh = linesFrom === null
    const news = fresh ? [] : snapshot.steps.filter((step) => this.knownState.isNews(step))
    const outputs = news.length > MAX_TAPE_STEPS ? new Map() : await this.#outputsOf(news)
    const sent = this.knownState.openTransitions.length
    const missing = snapshot.next_line - this.knownState.nextLine
    const changes = this.knownState.takeSnapshot(snapshot, this.seq + 1)
    this.#aheadAt = null
    if (fresh || missing !== snapshot.lines.length || changes.steps.length > MAX_TAPE_STEPS) this.#jump()
    else this.#record(changes, outputs, this.#stateFrames(sent), snapshot.next_line - missing, snapshot.lines)
    if (this.knownState.isFinal && !snapshot.awaits_output) this.#end(snapshot)
  }

  #takeEarly(): void {
    const early = this.#early
    this.#early = []
    for (const batch of early) this.take(batch)
  }

  /** Makes each client read the changes from the known state. */
  #jump(): void {
    this.seq += 1
    this.recentFrames.clear()
    this.wake()
  }

  #record(
    { steps, progress }: Changes,
    outputs: Outputs,
    before: string,
    firstLine: number,
    lines: readonly StoredLine[],
  ): void {
    if (steps.length + lines.length + before.length === 0 && !progress) return
    for (const [n, line] of lines.entries()) this.#lastLines.set(streamOf(line), firstLine + n)
    const begun = steps.filter(({ state }) => BEGUN.has(state))
    const others = steps.filter(({ state }) => !BEGUN.has(state))
    const progressText = progress && !this.knownState.isFinal ? progressFrame(this.places, this.counts) : ''
    this.#append({
      before: before + this.#stepFrames(begun, outputs),
      firstLine,
      lines,
      after: this.#stepFrames(others, outputs) + progressText,
    })
  }

  #append(change: { before: string; firstLine: number; lines: readonly StoredLine[]; after: string }): void {
    this.seq += 1
    this.recentFrames.append({
      seq: this.seq,
      before: Buffer.from(change.before),
      lines: encodeLines(this.places, change.firstLine, change.lines),
      after: Buffer.from(change.after),
      transitions: this.knownState.openTransitions.length,
    })
    this.wake()
  }

  #end({ next_line }: Snapshot): void {
    const { places, knownState } = this
    const last = knownState.transitions.at(-1)
    const transition =
      last?.to_state === knownState.state ? last : { to_state: knownState.state, message: `Ended ${knownState.state}` }
    const before = knownState.openTransitions.at(-1)?.to_state ?? ''
    this.ending = Buffer.from(progressFrame(places, this.counts) + stateFrame(places, before, transition, next_line))
    this.wake()
  }

  get counts(): { progress: number; completed_steps: number; total_steps: number } {
    const { progress, completedSteps, totalSteps } = this.knownState
    return { progress, completed_steps: completedSteps, total_steps: totalSteps }
  }

  #stepFrames(steps: readonly StepRecord[], outputs: Outputs): string {
    return steps.map((step) => stepFrame(this.places, step, outputs)).join('')
  }

  async #outputsOf(steps: readonly StepRow[]): Promise<Outputs> {
    const ended = steps.filter(({ state }) => COMMAND_ENDED.has(state))
    return this.#byPlace(await outputsOf(this.#options.database, this.id, ended))
  }

  #byPlace(steps: readonly { target: number; action: number; output: string }[]): Outputs {
    return new Map(steps.map((step) => [this.places.key(step), step.output]))
  }

  /** The state changes after the first `sent` ones. */
  #stateFrames(sent: number): string {
    const transitions = this.knownState.openTransitions
    return transitions
      .slice(sent)
      .map((transition, n) => stateFrame(this.places, transitions[sent + n - 1]?.to_state ?? '', transition))
      .join('')
  }

  /** The first message to a client, in pieces: the state, every step that is not pending, progress. */
  opening(): AsyncGenerator<Buffer> {
    const current = this.knownState.openTransitions.at(-1)
    const state = current ? stateFrame(this.places, '', current) : ''
    return this.#tellSteps(state, 0)
  }

  /** The changes after `seq` without lines, in pieces, for a client that has `transitions` state changes. */
  differences(seq: number, transitions: number): AsyncGenerator<Buffer> {
    return this.#tellSteps(this.#stateFrames(transitions), seq)
  }

  /** Skips steps that change meanwhile: their change has a higher number and is sent later. */
  #tellSteps(first: string, after: number): AsyncGenerator<Buffer> {
    return this.#pieces(first, this.#portions(after, this.seq), progressFrame(this.places, this.counts))
  }

  *#portions(after: number, upTo: number): Generator<StepRecord[]> {
    let portion: StepRecord[] = []
    for (const step of this.knownState.steps.values()) {
      if (step.seq <= after || step.seq > upTo || (after === 0 && step.state === 'pending')) continue
      portion.push(step)
      if (portion.length < STEPS_AT_ONCE) continue
      yield portion
      portion = []
    }
    yield portion
  }

  async *#pieces(first: string, portions: Iterable<StepRecord[]>, last: string): AsyncGenerator<Buffer> {
    let piece = first
    for (const steps of portions) {
      const outputs = await this.#outputsOf(steps)
      for (const step of steps) {
        piece += stepFrame(this.places, step, outputs)
        if (piece.length <= 32 * 1024) continue
        yield Buffer.from(piece)
        piece = ''
      }
    }
    yield Buffer.from(piece + last)
  }
}

const streamOf = ({ i, a, s }: Pick<StoredLine, 'i' | 'a' | 's'>) => `${i}/${a}/${s}`
