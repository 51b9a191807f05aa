import type { EventBody } from '@slipway/contracts'
import { type Database, enqueue, eventMessage, LOST_AFTER, STILL_HELD } from '@slipway/database'
import { forRequest, type Logger } from '@slipway/runtime'
import { closeSteps } from '../deployments/close-steps.ts'
import { finishDeployment } from '../deployments/finish.ts'
import { ended } from '../deployments/metrics.ts'
import { deploymentUpdated, lockDeployment, transition } from '../deployments/transitions.ts'
import { type EndedLease, endLease } from './end.ts'
import { lostLeases } from './metrics.ts'

/** The instance itself ends a deployment that runs out of time, and rolls it back; this long it has to do so. */
const OVERDUE_AFTER = '60 seconds'
/** The message that a run has ended takes this long at most, unless it was lost. */
const UNTOLD_AFTER = '5 seconds'
const BATCH = 100

/** Ends what no living instance will end any more. Any number may sweep. Returns whether anything changed. */
export async function sweep(database: Database, logger: Logger): Promise<boolean> {
  const lost = await endLostLeases(database)
  lostLeases.inc(lost.length)
  for (const lease of lost) logger.warn('an instance is lost, its run goes to another', { ...lease })
  const overdue = await failOverdue(database, logger)
  const untold = await finishUntold(database)
  for (const run of untold) logger.warn('ended a deployment of whose end no message came', { ...run })
  const stale = await endStaleLeases(database)
  for (const lease of stale) logger.warn('ended the lease of a deployment that had ended', { ...lease })
  return lost.length + overdue + untold.length + stale.length > 0
}

/** Leases of instances without heartbeat. One that a batch of events is just using is left to the next sweep. */
function endLostLeases(database: Database): Promise<EndedLease[]> {
  return endWhere(database, 'lost', {
    from: '',
    // Mostly there is no such instance: then no lease is read.
    where: `l.instance_id = ANY (ARRAY(
      SELECT id FROM instances WHERE coalesce(last_heartbeat_at, enrolled_at) < now() - interval '${LOST_AFTER}'))`,
  })
}

/** Ends deployments as their instances said, where the broker lost the message: what the bridge wrote down is there. */
async function finishUntold(database: Database): Promise<EventBody<'run.finished'>[]> {
  const { rows } = await database.query<EventBody<'run.finished'>>(
    `SELECT l.deployment_id, l.epoch, p.finished_outcome AS outcome, p.finished_error AS error_message
       FROM leases l JOIN run_progress p ON p.deployment_id = l.deployment_id AND p.epoch = l.epoch
      WHERE l.ended_at IS NULL AND p.finished_outcome IS NOT NULL
        AND p.finished_at < now() - interval '${UNTOLD_AFTER}'
      ORDER BY l.epoch LIMIT ${BATCH}`,
  )
  const finished = []
  for (const run of rows) {
    if (!(await finishDeployment(database, run))) continue
    ended.inc({ state: run.outcome })
    finished.push(run)
  }
  return finished
}

/** A lease ends with its deployment, in one transaction; should one ever be left, its slot must not stay taken. */
function endStaleLeases(database: Database): Promise<EndedLease[]> {
  return endWhere(database, 'final', {
    from: 'JOIN deployments d ON d.id = l.deployment_id',
    where: 'd.completed_at IS NOT NULL',
  })
}

function endWhere(
  database: Database,
  reason: 'lost' | 'final',
  condition: { from: string; where: string },
): Promise<EndedLease[]> {
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<EndedLease>(
      // Chosen once: as a condition it may be asked again for each live lease.
      `WITH chosen AS MATERIALIZED (
         SELECT l.epoch FROM leases l ${condition.from}
          WHERE l.ended_at IS NULL AND ${condition.where}
          ORDER BY l.epoch LIMIT ${BATCH} FOR UPDATE OF l SKIP LOCKED)
       UPDATE leases l SET ended_at = clock_timestamp(), end_reason = $1
         FROM chosen WHERE l.epoch = chosen.epoch AND ${STILL_HELD}
       RETURNING l.deployment_id, l.epoch, l.instance_id`,
      [reason],
    )
    // No wake-up: a lost instance cannot be reached, and any other is told by its next sync.
    await enqueue(
      tx,
      rows.map(({ instance_id }) => eventMessage('slot.freed', { instance_id })),
    )
    return rows
  })
}

async function failOverdue(database: Database, logger: Logger): Promise<number> {
  const { rows } = await database.query<{ id: string }>(
    `SELECT id FROM deployments
      WHERE completed_at IS NULL AND state = 'running' AND deadline_at < now() - interval '${OVERDUE_AFTER}'
      ORDER BY deadline_at LIMIT ${BATCH}`,
  )
  let failed = 0
  for (const { id } of rows) {
    if (!(await failOne(database, id))) continue
    failed += 1
    ended.inc({ state: 'failed' })
    logger.warn('failed a deployment that its instance did not end in time', { deployment_id: id })
  }
  return failed
}

function failOne(database: Database, id: string): Promise<boolean> {
  return database.transaction(async (tx) => {
    const deployment = await lockDeployment(tx, id)
    if (deployment?.state !== 'running') return false
    const lease = await endLease(tx, id, 'overdue')
    const message = 'The deployment ran out of its time'
    if (!(await transition(tx, id, { to: 'failed', message, error_message: message }))) return false
    await closeSteps(tx, id, {
      pending: 'skipped',
      running: 'failed',
      message: 'the deployment ran out of its time while the command ran',
      killed: true,
    })
    const messages = [
      ...(lease ? [eventMessage('lease.changed', { instance_id: lease.instance_id })] : []),
      deploymentUpdated(deployment, 'failed'),
      ...(lease ? [eventMessage('slot.freed', { instance_id: lease.instance_id })] : []),
    ]
    await forRequest(deployment, () => enqueue(tx, messages))
    return true
  })
}
