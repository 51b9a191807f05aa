import type { EventBody, RunOutcome } from '@slipway/contracts'
import { type Database, enqueue, eventMessage, type Queryable } from '@slipway/database'
import { canTransition, isFinalDeploymentState } from '@slipway/domain'
import { endLease } from '../leases/leases.ts'
import { closeSteps } from './close-steps.ts'
import { findCommonestFailure, findHeldLease, hasBegunRollback } from './deployments.sql.ts'
import { deploymentUpdated, lockDeployment, transition } from './transitions.ts'

/** What a check found is no success or failure of a deployment. */
type FinalOutcome = RunOutcome | 'checked'

const ROLLBACK_BEGAN = 'Rolling back what was done'

/** Notes that an instance has begun a rollback. Returns false if its epoch is over or the deployment is in another state. */
export function beginRollback(
  database: Database,
  { deployment_id, epoch }: EventBody<'run.rolling_back'>,
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const deployment = await lockDeployment(tx, deployment_id)
    if (!deployment || !(await findHeldLease.first(tx, { deployment_id, epoch }))) return false
    if (!(await transition(tx, deployment_id, { to: 'rolling_back', message: ROLLBACK_BEGAN }))) return false
    await enqueue(tx, deploymentUpdated(deployment, 'rolling_back'))
    return true
  })
}

/**
 * Ends a deployment with the reported outcome and frees the slot. If the state does not allow that outcome, the deployment
 * becomes failed: otherwise it would keep its slot forever. Returns the outcome (`checked` for a check), or null if the epoch is
 * over or the message is a repetition.
 */
export function finishDeployment(database: Database, end: EventBody<'run.finished'>): Promise<FinalOutcome | null> {
  const { deployment_id, epoch, outcome: reported } = end
  return database.transaction(async (tx) => {
    const deployment = await lockDeployment(tx, deployment_id)
    if (!deployment || isFinalDeploymentState(deployment.state)) return null
    const lease = await endLease(tx, deployment_id, 'finished', epoch)
    if (!lease) return null

    let { state } = deployment
    if (state === 'running' && (await hasRolledBack(tx, deployment_id, reported))) {
      await transition(tx, deployment_id, { to: 'rolling_back', message: ROLLBACK_BEGAN })
      state = 'rolling_back'
    }
    const isLegal = canTransition(state, reported)
    const outcome = isLegal ? reported : 'failed'
    const failure = isLegal
      ? await explanationOf(tx, end)
      : `The instance reported the end ${reported} while the deployment was ${state}`
    const message = failure ?? 'Every command was executed'
    if (!(await transition(tx, deployment_id, { to: outcome, message, error_message: failure }))) {
      throw new Error(`A deployment in state ${state} cannot become ${outcome}`)
    }
    await closeSteps(tx, deployment_id, {
      pending: 'skipped',
      running: 'failed',
      message: 'the deployment ended before the command did',
      reason: 'deployment_ended',
    })
    await enqueue(tx, [
      ...deploymentUpdated(deployment, outcome),
      eventMessage('slot.freed', { instance_id: lease.instance_id }),
    ])
    return deployment.is_check ? 'checked' : outcome
  })
}

const explanationOf = async (tx: Queryable, end: EventBody<'run.finished'>) =>
  end.outcome === 'success' ? null : failureOf(tx, end)

/** Messages may arrive in another order: the end before the rollback. */
async function hasRolledBack(tx: Queryable, deploymentId: string, reported: RunOutcome): Promise<boolean> {
  if (reported === 'rolled_back') return true
  const { rolled_back } = await hasBegunRollback.one(tx, {
    deployment_id: deploymentId,
    ask_steps: reported === 'failed',
  })
  return rolled_back ?? false
}

/**
 * Explains in one sentence why a deployment failed. If commands failed on several targets, the sentence names the most
 * frequent kind of failure. Otherwise it is the message of the instance.
 */
async function failureOf(
  tx: Queryable,
  { deployment_id, reason, error_message: runError }: EventBody<'run.finished'>,
): Promise<string> {
  // A timeout kills commands, for example. Such failures are an effect, not the cause.
  if (runError !== null && (reason ?? 'command_failed') !== 'command_failed') return runError
  const found = await findCommonestFailure.first(tx, { deployment_id })
  if (!found) return runError ?? 'No command was completed'
  const { failures, targets, alike, error, place } = found
  if (targets > 1) return `${alike} of ${failures} failures: ${error ?? 'no reason is known'}; the first was ${place}`
  return runError ?? `${place} failed${error === null ? '' : `: ${error}`}`
}
