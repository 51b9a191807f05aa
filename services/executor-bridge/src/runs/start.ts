import type { RunRef } from '@slipway/contracts'
import { answerTogether, type Database } from '@slipway/database'
import { forRequest, SecretError, withContext } from '@slipway/runtime'
import type { Bridge } from '../bridge.ts'
import { addressOf } from '../instances/address.ts'
import { postRun, postStop } from './instance-calls.ts'
import { type LoadedRun, loadRuns } from './load.ts'
import { handovers } from './metrics.ts'
import { endUnstartedRun } from './progress.ts'
import { type LeasedRun, liveEpochs } from './records.ts'
import { buildSpec, CannotRun, type RunRecords } from './spec.ts'

const GROUPS = { underWay: 3, most: 32 }

/** What is asked of the database for each run, together for those that are handed over at the same time. */
export interface RunQuestions {
  load(run: RunRef): Promise<LoadedRun | null>
  isLive(epoch: number): Promise<boolean>
}

export function askTogether(database: Database): RunQuestions {
  return {
    load: answerTogether((runs: readonly RunRef[]) => loadRuns(database, runs), GROUPS),
    isLive: answerTogether(async (epochs: readonly number[]) => {
      const live = await liveEpochs(database, epochs)
      return epochs.map((epoch) => live.has(epoch))
    }, GROUPS),
  }
}

/**
 * Hands the run to the instance that holds its lease. Does nothing when the lease has ended or the instance has it
 * already. Throws when it should be tried again. The run's spec holds secrets: nothing here may log it.
 */
export async function startRun(bridge: Bridge, asked: RunQuestions, { deployment_id, epoch }: RunRef): Promise<void> {
  const loaded = await asked.load({ deployment_id, epoch })
  if (!loaded) return bridge.logger.info('a run is not handed over, its lease has ended', { deployment_id, epoch })
  const { run, records } = loaded
  if (run.started || run.finished) return
  await forRequest(run, () => withContext({ deployment_id, epoch }, () => handOver(bridge, asked, run, records)))
}

async function handOver(bridge: Bridge, asked: RunQuestions, run: LeasedRun, records: RunRecords): Promise<void> {
  const { logger } = bridge
  const { deployment_id, epoch, instance_id } = run
  try {
    const instance = addressOf(bridge.keys, instance_id, run)
    const answer = await postRun(instance, buildSpec(bridge.keys, run, records))
    if (answer === 'has_newer') return logger.warn('the instance has this run under a newer epoch', { instance_id })
    if (answer !== 'accepted') throw new CannotRun(`The instance refused the run: ${answer.refused}`)
    logger.info('a run was handed over', { instance_id })
    handovers.inc({ outcome: 'accepted' })
    // A cancel may have come in between, and its stop may have reached the instance before the run did.
    if (!(await asked.isLive(epoch))) {
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
