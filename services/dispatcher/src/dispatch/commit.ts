import { setImmediate as nextTurn } from 'node:timers/promises'
import { type CommandBody, type CommandReply, QUEUED_MESSAGE } from '@slipway/contracts'
import { placesMatter, type Queryable } from '@slipway/database'
import { recordCalls } from '@slipway/database/audit'
import type { Problem } from '@slipway/domain'
import {
  countingApprovals,
  type Decision,
  hasScopedAuthor,
  isNew,
  type Snapshot,
  type Start,
  type Wait,
} from '@slipway/engine'
import { type Starting, writeStarted } from '../deployments/write.ts'
import { placeRequests } from '../pending/places.ts'
import { enqueueRequests } from '../pending/queue.ts'
import { type ClaimedRequest, markDispatched, markEnded } from '../pending/status.ts'
import { type Superseded, supersede } from '../pending/supersede.ts'
import { resume } from '../runs/resume.ts'
import { callRecord } from './call-record.ts'
import { claimRequests } from './claim.ts'
import type { StartCommand } from './start-commands.ts'

type StartBody = CommandBody<'deployment.start'>
export type StartOutcome = CommandReply<'deployment.start'>

/** The answer to a command: null if it has no effect (its deadline is over, or it was refused), a Problem if it is refused. */
export type StartResult = StartOutcome | Problem | null

export interface Committing {
  snapshot: Snapshot
  /** The new commands, by id. */
  commands: ReadonlyMap<string, StartCommand>
  /** The deployments whose plans are written already. */
  prepared: ReadonlySet<string>
  /** The pending requests that were due for a look. */
  due: ReadonlySet<string>
}

export interface Committed {
  /** The answers to new commands, by id. */
  answers: Map<string, StartResult>
  /** How many requests started or left the queue. */
  changed: number
  /** The ids of the requests that started. */
  started: readonly string[]
}

type Decided<D extends Start | Wait> = D & { received: StartCommand; superseded: Superseded }

/**
 * Carries out decisions, with a fixed number of statements. What is free in the snapshot must still be free.
 * @throws Moved if a slot, an instance or a target has changed since the snapshot
 */
export async function commit(
  tx: Queryable,
  decisions: readonly Decision[],
  committing: Committing,
): Promise<Committed> {
  const { snapshot, commands, prepared, due } = committing
  const starts = decisions.filter((decision) => decision.is === 'start')
  const waits = decisions.filter((decision) => decision.is === 'wait')
  const ends = decisions.filter((decision) => decision.is === 'end')
  // Others keep their places.
  const moved = waits.filter(({ request, isParked }) => !isNew(request) && (isParked || due.has(request.id)))
  const received = <D extends Start | Wait>(some: readonly D[]) =>
    some.flatMap((decision) => {
      const command = commandOf(decision, commands)
      return command === undefined ? [] : [{ ...decision, received: command }]
    })
  const fresh = received([...starts, ...waits])
  const superseded = await supersede(
    tx,
    fresh.map((decision) => ({ ...decision.received, supersedes: decision.supersedes })),
  )
  const withSuperseded = <D extends Start | Wait>(some: readonly D[]): Decided<D>[] =>
    received(some).map((decision) => ({
      ...decision,
      superseded: superseded.get(decision.request.id) ?? { ids: [], queued_at: null },
    }))
  const [newStarts, newWaits] = [withSuperseded(starts), withSuperseded(waits)]
  const orphans = starts.filter(({ request }) => request.kind === 'orphan')
  const stored = starts.filter(({ request }) => request.kind === 'start' && !isNew(request))
  const isPlanned = (id: string) => prepared.has(id)

  const [resumed, { ready, changed }, ended] = await Promise.all([
    resume(tx, snapshot, orphans),
    claimRequests(
      tx,
      stored.map(({ request }) => request.id),
      { placesMatter: placesMatter(snapshot) || stored.some(({ request }) => hasScopedAuthor(request)) },
    ),
    markEnded(tx, ends),
    placeRequests(tx, moved),
  ])
  const approvals = new Map(
    stored.map(({ request }) => [request.id, request.kind === 'start' ? countingApprovals(snapshot, request) : []]),
  )
  const slots = new Map(stored.map(({ request, slot }) => [request.id, slot]))
  const dispatched = ready.flatMap(({ request, locks }) => {
    const slot = slots.get(request.id)
    return slot === undefined ? [] : [{ request, locks, slot }]
  })
  // Postgres marks the requests while this process maps their plans to rows (goal: drain of the queue).
  const write = async () => {
    if (dispatched.length > 0) await nextTurn()
    await writeStarted(tx, snapshot, [
      ...dispatched.map(({ request, locks, slot }): Starting => {
        const { id, request_id, traceparent } = request
        // A caller finds what it has asked for under one id, whether it waits or runs.
        return {
          deployment_id: id,
          request_id,
          traceparent,
          slot,
          locks,
          command: withPriority(request),
          was_queued: true,
          is_planned: isPlanned(id),
          approvals: approvals.get(id) ?? [],
        }
      }),
      ...newStarts.map(({ received: { command, request_id, traceparent }, slot, request }): Starting => {
        return {
          deployment_id: command.command_id,
          request_id,
          traceparent,
          slot,
          locks: locksOf(request),
          command,
          was_queued: false,
          is_planned: isPlanned(command.command_id),
          approvals: [],
        }
      }),
    ])
  }
  await Promise.all([
    markDispatched(tx, dispatched),
    write(),
    enqueueRequests(
      tx,
      newWaits.map(({ received: { command, request_id, traceparent }, request, superseded, isParked }) => {
        // A parked request has no place to take over, and the time for its approvals begins now.
        const queued_at = isParked ? null : superseded.queued_at
        return { command, request_id, traceparent, queued_at, locks: locksOf(request) }
      }),
    ),
    recordCalls(tx, [...newStarts, ...newWaits].map(callRecord)),
  ])
  await placeRequests(
    tx,
    newWaits.filter(({ isParked, review_at }) => isParked || review_at !== null),
    { isNew: true },
  )
  return {
    answers: answersOf(decisions, commands),
    changed: resumed + ready.length + changed + ended + moved.length,
    started: [...dispatched, ...newStarts].map(({ request }) => request.id),
  }
}

/** The new command that a decision is about. The stored request of an earlier copy has the same id. */
const commandOf = ({ request }: Decision, commands: Committing['commands']): StartCommand | undefined =>
  isNew(request) ? commands.get(request.id) : undefined

const locksOf = (request: Start['request']) => (request.kind === 'start' ? request.targets.map(({ id }) => id) : [])

export function withPriority({ command, priority }: ClaimedRequest): StartBody {
  const { plan } = command
  return { ...command, plan: { ...plan, options: { ...plan.options, priority } } }
}

function answersOf(decisions: readonly Decision[], commands: Committing['commands']): Map<string, StartResult> {
  const answers = new Map<string, StartResult>()
  for (const decision of decisions) {
    const command = commandOf(decision, commands)?.command
    if (command !== undefined) answers.set(command.command_id, answerOf(decision, command))
  }
  return answers
}

function answerOf(decision: Decision, command: StartBody): StartResult {
  switch (decision.is) {
    case 'start':
      return outcomeOf(command, 'started')
    case 'wait':
      return outcomeOf(command, 'queued')
    case 'known':
      return outcomeOf(command, decision.outcome)
    case 'refuse':
      return decision.problem
    case 'dropped':
    case 'end':
      return null
  }
}

function outcomeOf({ command_id, warnings, selection }: StartBody, outcome: 'started' | 'queued'): StartOutcome {
  if (outcome === 'started') return { outcome, deployment_id: command_id, warnings }
  const queued = { outcome, pending_request_id: command_id, message: QUEUED_MESSAGE, warnings } as const
  const { unchanged_target_ids } = selection
  return unchanged_target_ids === undefined ? queued : { ...queued, unchanged_target_ids }
}
