import type { EventBatch, RunOutcome, StreamBatch } from '@slipway/contracts'
import { enqueue, eventMessage, type OutboxMessage, type Queryable } from '@slipway/database'
import { canTransition, type LogLimit } from '@slipway/domain'
import { forRequest, SpanKind, traced } from '@slipway/runtime'
import { analyseFailures, type Failures } from '../analysis/failures.ts'
import { explainReports } from '../analysis/reports.ts'
import type { Bridge } from '../bridge.ts'
import { fenced, IllegalEvent, invalid } from '../callers/refusal.ts'
import { keepWithinLimits } from '../log-volume/keep.ts'
import type { LogVolume } from '../log-volume/log-volume.ts'
import { saveProgress } from '../runs/progress.sql.ts'
import { endIllegalRun, type HeldRun, lockRun, lockStoppedRun, type Progress } from '../runs/progress.ts'
import { noteTargets } from './facts.ts'
import { type FoldedBatch, foldEvents } from './fold.ts'
import { chunkOf, countDropped, newLines, storeChunk } from './lines.ts'
import { measured } from './metrics.ts'
import { moveSteps } from './steps.ts'

interface AppliedBatch {
  nextEvent: number
  /** The changes for stream clients; null without any. */
  live: StreamBatch | null
  /** Whether there are urgent messages. Events of targets wait for the next run of the relay. */
  messages: boolean
  failures: Failures
  /** The bytes of the stored lines. */
  logged: { tenantId: string | null; bytes: number }
}

/**
 * Applies a batch of a run's events under its live lease, in one transaction. Returns the number of the next event; every event
 * before it is committed. Skips events that were applied before, so a batch may be repeated, split differently, or sent to
 * several bridges at once. Soon after a stop, batches with `after_stop` are accepted for their log lines.
 * @throws Refusal 409 FENCED if the instance no longer holds the lease of that epoch
 * @throws IllegalEvent for impossible events; the run has then ended as failed
 */
export async function applyBatch(
  bridge: Bridge,
  instanceId: string,
  deploymentId: string,
  batch: EventBatch,
): Promise<number> {
  const lease = { deploymentId, epoch: batch.epoch, instanceId }
  const apply = async (tx: Queryable): Promise<AppliedBatch> => {
    const held = batch.after_stop ? await lockStoppedRun(tx, lease) : await lockRun(tx, lease)
    if (!held) throw fenced()
    const work = { ...held, deploymentId, instanceId, batch, volume: bridge.logVolume }
    return forRequest(held.run, () => asSpan(batch, () => applyNew(tx, work)))
  }
  const outcome = await measured(batch, () => bridge.database.transaction(apply)).catch(async (error) => {
    if (error instanceof IllegalEvent) await endIllegalRun(bridge, lease, error.message)
    throw error
  })
  bridge.logVolume.add(outcome.logged.tenantId, outcome.logged.bytes)
  if (outcome.messages) bridge.wakeRelay()
  bridge.analyst?.consider(deploymentId, outcome.failures)
  if (outcome.live) await bridge.live.publish(deploymentId, outcome.live)
  return outcome.nextEvent
}

/** Batches with only output have no span: there are so many that they would hide the rest of the trace. */
function asSpan<T>({ events }: EventBatch, fn: () => T): T {
  if (events.every(({ type }) => type === 'log')) return fn()
  return traced('apply run events', { kind: SpanKind.INTERNAL, attributes: { 'slipway.events': events.length } }, fn)
}

interface HeldBatch {
  run: HeldRun
  progress: Progress
  deploymentId: string
  instanceId: string
  batch: EventBatch
  volume: LogVolume
}

async function applyNew(
  tx: Queryable,
  { run, progress, deploymentId, instanceId, batch, volume }: HeldBatch,
): Promise<AppliedBatch> {
  const { next_event: firstEvent, next_line: firstLine } = progress
  const nextEvent = batch.first_event + batch.events.length
  // After a gap or a repetition there is nothing to apply. The answer tells the instance where to continue.
  if (batch.first_event > firstEvent || nextEvent <= firstEvent) {
    return { nextEvent: firstEvent, live: null, messages: false, failures: new Map(), logged: loggedBy(run, 0) }
  }
  if (progress.finished) throw invalid('The run has ended, so it cannot have further events')

  const fresh = batch.events.slice(firstEvent - batch.first_event)
  // The end of the lease closed the steps, so only log lines count.
  const events = batch.after_stop ? fresh.filter(({ type }) => type === 'log') : fresh
  const size = { actions: run.action_count, targets: run.total_steps / run.action_count }
  const folded = foldEvents(events, size, firstEvent)
  const failures: Failures = run.analysis_enabled ? await analyseFailures(tx, deploymentId, folded.steps) : new Map()
  const reported = await explainReports(
    tx,
    deploymentId,
    newLines(folded.lines, firstLine + progress.line_offset),
    failures,
  )
  const used = { deployment: progress.log_bytes, tenant_day: await volume.today(tx, run.tenant_id) }
  const { lines, dropped, dropping } = keepWithinLimits(reported, volume.limits, used, progress.dropping)
  const chunk = chunkOf(lines)
  const log = {
    next_line: firstLine + lines.length,
    line_offset: progress.line_offset + reported.length - lines.length,
    bytes: chunk.bytes,
    dropping,
  }
  const wasRollingBack = isRollingBack(run, progress)
  const messages = messagesOf(deploymentId, batch.epoch, folded, wasRollingBack)
  const [effect, counted, , sightings] = await Promise.all([
    moveSteps(tx, { deploymentId, leaseBegan: run.acquired_at }, folded.steps, failures),
    noteProgress(tx, deploymentId, folded, { next_event: nextEvent, ...log }),
    storeChunk(tx, deploymentId, firstLine, chunk),
    noteTargets(tx, { deploymentId, instanceId }, folded),
    forRequest(run, () => enqueue(tx, messages)),
  ])
  await forRequest(run, () => enqueue(tx, sightings))
  await countDropped(tx, deploymentId, dropped)
  if (folded.finished) checkOutcome(folded.finished.outcome, wasRollingBack || folded.rollingBack)

  const live: StreamBatch = {
    epoch: batch.epoch,
    first_event: firstEvent,
    next_event: nextEvent,
    first_line: firstLine,
    lines,
    steps: effect.changed,
    ...(effect.counts ?? counted),
    total_steps: run.total_steps,
  }
  const hasMessages = messages.length > 0 || effect.hasFreedTargets
  return { nextEvent, live, messages: hasMessages, failures, logged: loggedBy(run, chunk.bytes) }
}

const loggedBy = ({ tenant_id: tenantId }: HeldRun, bytes: number) => ({ tenantId, bytes })

/** Returns the counts of the run before the batch. */
function noteProgress(
  tx: Queryable,
  deploymentId: string,
  { finished, rollingBack }: FoldedBatch,
  next: { next_event: number; next_line: number; line_offset: number; bytes: number; dropping: LogLimit | null },
) {
  const { outcome = null, reason = null, error_message = null } = finished ?? {}
  const end = { outcome, reason, error_message, rolling_back: rollingBack }
  return saveProgress.one(tx, { deployment_id: deploymentId, ...next, ...end })
}

function messagesOf(
  deploymentId: string,
  epoch: number,
  { rollingBack, finished }: FoldedBatch,
  wasRollingBack: boolean,
): OutboxMessage[] {
  const run = { deployment_id: deploymentId, epoch }
  const messages: OutboxMessage[] = []
  if (rollingBack && !wasRollingBack) messages.push(eventMessage('run.rolling_back', run))
  if (finished) messages.push(eventMessage('run.finished', { ...run, ...finished }))
  return messages
}

const isRollingBack = ({ state }: HeldRun, progress: Progress) => progress.rolling_back || state === 'rolling_back'

/**
 * Refuses an end that the states of a deployment do not allow, because the dispatcher could never enter it.
 * @throws IllegalEvent
 */
function checkOutcome(outcome: RunOutcome, rollingBack: boolean): void {
  const state = rollingBack ? 'rolling_back' : 'running'
  if (!canTransition(state, outcome)) {
    throw new IllegalEvent(`A run that is ${state} cannot end with ${outcome}`)
  }
}
