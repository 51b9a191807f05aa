import { type CommandFailureReason, isEndedStepState, type StepState } from '@slipway/domain'
import type { Queryable, RowOf } from '../sql/statement.ts'
import { type FoundParts, findParts, writeDerived } from './derive.ts'
import { findAllParts, findOpenParts, findTouchedParts } from './parts.sql.ts'
import * as sql from './steps.sql.ts'

/** One step moves from one of `sources` to `state`. A field that is null does not change. */
export interface StepMove {
  target: number
  action: number
  sources: readonly StepState[]
  state: StepState
  retry_count: number | null
  started_at: string | null
  attempt_started_at: string | null
  completed_at: string | null
  /** The result of an attempt that ended. */
  result: StepResult | null
}

export interface StepResult {
  status: 'completed' | 'failed'
  exit_code: number | null
  error_message: string | null
  reason: CommandFailureReason | null
  started_at: string
  stdout_tail: string
  stderr_tail: string
  analysis: object | null
}

/** What happened to steps. */
export type StepsChange =
  /** The events of a run, whose progress the transaction has locked. Times are bounded by the start of the lease. */
  | { kind: 'moved'; deploymentId: string; leaseBegan: Date; moves: readonly StepMove[] }
  /** The log limits dropped output lines of commands. */
  | {
      kind: 'lines dropped'
      deploymentId: string
      dropped: readonly { target: number; action: number; lines: number }[]
    }
  /** The transaction has ended the deployment. Its open steps end, too. */
  | ({ kind: 'closed'; deploymentId: string } & StepClosing)
  /** The instances of these deployments are lost, with the results of the running commands. */
  | { kind: 'attempts lost'; deploymentIds: readonly string[]; message: string }
  /** The instance has stopped a run. Whether the commands at the places in `doubt` have ended is unknown. */
  | {
      kind: 'stopped'
      deploymentId: string
      epoch: number
      doubt: readonly (readonly [target: number, action: number])[]
    }

/** The states and the message for steps that have not ended when their deployment ends. */
export interface StepClosing {
  pending: 'skipped' | 'cancelled'
  running: 'failed' | 'cancelled'
  /** Why a running step did not end normally. */
  message: string
  reason: CommandFailureReason | null
  /** Whether running commands still have to be killed. Their ends are unconfirmed until the instance reports them. */
  killed?: true
}

export type MovedStep = RowOf<typeof sql.moveSteps>

export interface StepsEffect {
  /** The steps that `moves` could move. */
  moved: readonly MovedStep[]
  /** The counts of the run after the moves; null if they have not changed. */
  counts: RowOf<typeof sql.addCounts> | null
  /** Whether the transaction tells the dispatcher of freed targets. */
  hasFreedTargets: boolean
}

const NO_PARTS: FoundParts = { parts: [], deployments: [] }

/**
 * Changes steps, and in the same transaction all that follows from them: releases, which release is in force, locks of targets,
 * and the counts of the run. Nothing else updates steps. The rules are those of `@slipway/engine`.
 *
 * Takes two round trips, with a fixed number of statements, however many steps change.
 */
export async function writeSteps(tx: Queryable, change: StepsChange): Promise<StepsEffect> {
  const [moved, found] = await Promise.all([update(tx, change), partsOf(tx, change)])
  const [counts, hasFreedTargets] = await Promise.all([count(tx, change, moved), writeDerived(tx, found)])
  return { moved, counts, hasFreedTargets }
}

/** Derives everything of these deployments again. For tests that write steps themselves. */
export async function deriveParts(tx: Queryable, deploymentIds: readonly string[]): Promise<void> {
  const parts = findAllParts.all(tx, { deployment_ids: deploymentIds })
  await writeDerived(tx, await findParts(tx, deploymentIds, parts))
}

async function update(tx: Queryable, change: StepsChange): Promise<MovedStep[]> {
  switch (change.kind) {
    case 'moved':
      return sql.moveSteps.all(tx, {
        deployment_id: change.deploymentId,
        lease_began: change.leaseBegan,
        moves: change.moves.map(rowOf),
      })
    case 'lines dropped':
      await sql.addDropped.run(tx, {
        deployment_id: change.deploymentId,
        dropped: change.dropped,
      })
      return []
    case 'closed': {
      const { deploymentId: deployment_id, pending, running, message, reason, killed = false } = change
      await Promise.all([
        // First: a lock may depend on a step that runs until now.
        sql.freeLocksOfEnded.run(tx, { deployment_id }),
        sql.closeSteps.run(tx, { deployment_id, pending, running, message, reason, killed }),
      ])
      return []
    }
    case 'attempts lost':
      await sql.loseAttempts.run(tx, { deployment_ids: change.deploymentIds, message: change.message })
      return []
    case 'stopped': {
      const { deploymentId: deployment_id, epoch } = change
      const doubt = change.doubt.map(([target_index, action_index]) => ({ target_index, action_index }))
      await Promise.all([
        sql.confirmEnds.run(tx, { deployment_id, doubt }),
        sql.freeLocksOfRun.run(tx, { deployment_id, epoch }),
      ])
      return []
    }
    default:
      return change satisfies never
  }
}

function rowOf({ sources, result, ...move }: StepMove) {
  return {
    ...move,
    sources: sources.join(','),
    status: result?.status ?? null,
    exit_code: result?.exit_code ?? null,
    error_message: result?.error_message ?? null,
    reason: result?.reason ?? null,
    result_started_at: result?.started_at ?? null,
    stdout_tail: result?.stdout_tail ?? '',
    stderr_tail: result?.stderr_tail ?? '',
    analysis: result?.analysis ?? null,
  }
}

/** Sends its statements together with `update`, after it. */
async function partsOf(tx: Queryable, change: StepsChange): Promise<FoundParts> {
  switch (change.kind) {
    case 'moved': {
      const reverted = new Map<number, boolean>()
      for (const { target, state } of change.moves) {
        reverted.set(target, reverted.get(target) === true || REVERTED.includes(state))
      }
      const parts = findTouchedParts.all(tx, {
        deployment_id: change.deploymentId,
        targets: [...reverted].map(([target_index, reverted]) => ({ target_index, reverted })),
      })
      return findParts(tx, [change.deploymentId], parts)
    }
    case 'closed':
      return openParts(tx, [change.deploymentId])
    case 'attempts lost':
      return openParts(tx, change.deploymentIds)
    case 'lines dropped':
    case 'stopped':
      return NO_PARTS
    default:
      return change satisfies never
  }
}

const REVERTED: readonly StepState[] = ['rolling_back', 'rolled_back', 'rollback_failed']

const openParts = (tx: Queryable, deploymentIds: readonly string[]) =>
  findParts(tx, deploymentIds, findOpenParts.all(tx, { deployment_ids: deploymentIds }))

async function count(tx: Queryable, change: StepsChange, moved: readonly MovedStep[]): Promise<StepsEffect['counts']> {
  if (change.kind !== 'moved') return null
  const counts = { ended: 0, completed: 0, failed: 0 }
  for (const { before, state, newly_failed } of moved) {
    counts.ended += Number(isEndedStepState(state)) - Number(isEndedStepState(before))
    counts.completed += Number(state === 'completed') - Number(before === 'completed')
    counts.failed += Number(newly_failed)
  }
  if (Object.values(counts).every((n) => n === 0)) return null
  return sql.addCounts.first(tx, { deployment_id: change.deploymentId, ...counts })
}
