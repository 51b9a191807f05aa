import type { RunRef } from '@slipway/contracts'
import type { Database } from '@slipway/database'
import { forRequest, SecretError, withContext } from '@slipway/runtime'
import type { Bridge } from '../bridge.ts'
import { addressOf } from '../instances/address.ts'
import { postRun, postStop } from './instance-calls.ts'
import { handovers } from './metrics.ts'
import { endUnstartedRun, lockRun } from './progress.ts'
import { actionsOf, isLeaseLive, type LeasedRun, leasedRun, targetsOf, touchedSteps } from './records.ts'
import { buildSpec, CannotRun, type RunRecords } from './spec.ts'

/**
 * Hands the run to the instance that holds its lease. Does nothing when the lease has ended or the instance has it
 * already. Throws when it should be tried again. The run's spec holds secrets: nothing here may log it.
 */
export async function startRun(bridge: Bridge, { deployment_id, epoch }: RunRef): Promise<void> {
  const loaded = await load(bridge.database, deployment_id, epoch)
  if (!loaded) return bridge.logger.info('a run is not handed over, its lease has ended', { deployment_id, epoch })
  const { run, records } = loaded
  if (run.started || run.finished) return
  await forRequest(run, () => withContext({ deployment_id, epoch }, () => handOver(bridge, run, records)))
}

/** What the run needs, with its progress opened, as long as the lease holds. */
function load(database: Database, deploymentId: string, epoch: number) {
  return database.transaction(async (tx) => {
    const [run, actions, targets, steps] = await Promise.all([
      leasedRun(tx, deploymentId, epoch),
      actionsOf(tx, deploymentId),
      targetsOf(tx, deploymentId),
      touchedSteps(tx, deploymentId),
    ])
    const held = run && (await lockRun(tx, { deploymentId, epoch, instanceId: run.instance_id }))
    return held && { run: { ...run, next_line: held.progress.next_line }, records: { actions, targets, steps } }
  })
}

async function handOver(bridge: Bridge, run: LeasedRun, records: RunRecords): Promise<void> {
  const { database, logger } = bridge
  const { deployment_id, epoch, instance_id } = run
  try {
    const instance = addressOf(bridge.keys, instance_id, run)
    const answer = await postRun(instance, buildSpec(bridge.keys, run, records))
    if (answer === 'has_newer') return logger.warn('the instance has this run under a newer epoch', { instance_id })
    if (answer !== 'accepted') throw new CannotRun(`The instance refused the run: ${answer.refused}`)
    logger.info('a run was handed over', { instance_id })
    handovers.inc({ outcome: 'accepted' })
    // A cancel may have come in between, and its stop may have reached the instance before the run did.
    if (!(await isLeaseLive(database, deployment_id, epoch))) {
      await postStop(instance, { deployment_id, epoch }, 'the lease ended while the run was handed over')
    }
  } catch (error) {
    const reason = permanentReason(error)
    handovers.inc({ outcome: reason === null ? 'failed' : 'refused' })
    if (reason === null) throw error
    logger.error('a run cannot be handed over, it ends failed', { instance_id, reason })
    await endUnstartedRun(bridge, { deploymentId: deployment_id, epoch, instanceId: instance_id }, reason)
  }
}

function permanentReason(error: unknown): string | null {
  if (error instanceof CannotRun) return error.message
  if (error instanceof SecretError) return `A secret of the deployment cannot be opened: ${error.message}`
  return null
}
