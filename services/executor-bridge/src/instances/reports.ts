import type { SyncRequest } from '@slipway/contracts'
import { enqueue, eventMessage, type OutboxMessage } from '@slipway/database'
import type { Bridge } from '../bridge.ts'
import { startedRuns } from '../runs/metrics.ts'
import { endUnstartedRun } from '../runs/progress.ts'
import { endedLeases, findUnstartedLeases, keyOf } from './leases.ts'

/**
 * Processes the reports of runs that the instance stopped, refused or declined. The instance repeats them until a sync
 * succeeds, so each report is idempotent. Reports of other instances' runs have no effect.
 */
export async function takeReports(
  bridge: Bridge,
  instanceId: string,
  { stopped, refused, declined }: Pick<SyncRequest, 'stopped' | 'refused' | 'declined'>,
): Promise<void> {
  const { database, logger } = bridge
  for (const { deployment_id, epoch, reason } of refused) {
    logger.error('an instance refuses a run; the run ends failed', {
      deployment_id,
      epoch,
      instance_id: instanceId,
      reason,
    })
    startedRuns.inc({ outcome: 'refused' })
    const lease = { deploymentId: deployment_id, epoch, instanceId }
    await endUnstartedRun(bridge, lease, `The instance refused the run: ${reason}`)
  }
  const messages: OutboxMessage[] = []
  if (stopped.length > 0) {
    const epochs = stopped.map(({ epoch }) => epoch)
    const own = new Set((await endedLeases(database, instanceId, epochs)).map(keyOf))
    const confirmed = stopped.filter((run) => own.has(keyOf(run)))
    messages.push(...confirmed.map((run) => eventMessage('run.stopped', run)))
  }
  if (declined.length > 0) {
    const epochs = declined.map(({ epoch }) => epoch)
    const runs = await findUnstartedLeases.all(database, { instance_id: instanceId, epochs })
    for (const run of runs)
      logger.warn('an instance cannot take a run now; another gets it', { ...run, instance_id: instanceId })
    messages.push(...runs.map((run) => eventMessage('run.declined', run)))
  }
  if (messages.length === 0) return
  await enqueue(database, messages)
  bridge.wakeRelay()
}
