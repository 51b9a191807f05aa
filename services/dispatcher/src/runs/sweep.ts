import type { EventBody } from '@slipway/contracts'
import { type Database, enqueue, eventMessage, Quarantine } from '@slipway/database'
import { forRequest, type Logger } from '@slipway/runtime'
import { LOST_AFTER, STILL_HELD } from '@slipway/views'
import { closeSteps } from '../deployments/close-steps.ts'
import { finishDeployment } from '../deployments/finish.ts'
import { ended } from '../deployments/metrics.ts'
import { deploymentUpdated, lockDeployment, transition } from '../deployments/transitions.ts'
import { type EndedLease, endLease } from '../leases/end.ts'
import { lostLeases } from '../leases/metrics.ts'

/** The instance itself ends a deployment that runs out of time, and rolls it back; this long it has to do so. */
const OVERDUE_AFTER = '60 seconds'
/** The message that a run has ended takes this long at most, unless it was lost. */
const UNTOLD_AFTER = '5 seconds'
const BATCH = 100

interface SweepOptions {
  database: Database
  logger: Logger
}

/**
 * Makes the sweep, which ends what no living instance will end any more and gives whether anything changed. Any number of
 * processes may sweep.
 */
export function createSweep({ database, logger }: SweepOptions): () => Promise<boolean> {
  const quarantine = (task: string) => new Quarantine({ task, logger })
  const parts = [
    lostLeasePart(database, logger, quarantine('sweep-lost')),
    overduePart(database, logger, quarantine('sweep-overdue')),
    untoldPart(database, logger, quarantine('sweep-untold')),
    staleLeasePart(database, logger, quarantine('sweep-stale')),
  ]
  const failing = quarantine('sweep')
  return async () => {
    const changes = await failing.each(
      parts,
      (part) => String(parts.indexOf(part)),
      (part) => part(),
    )
    return changes.some((changed) => changed > 0)
  }
}

/** Gives how many rows it changed. */
type Part = () => Promise<number>

/** Leases of instances without heartbeat. A lease that a batch of events uses just now is left to the next sweep. */
const lostLeasePart =
  (database: Database, logger: Logger, rows: Quarantine): Part =>
  async () => {
    const lost = await endWhere(database, rows, 'lost', {
      from: '',
      // Mostly there is no such instance: then no lease is read.
      where: `l.instance_id = ANY (ARRAY(
        SELECT id FROM instances WHERE coalesce(last_heartbeat_at, enrolled_at) < now() - interval '${LOST_AFTER}'))`,
    })
    lostLeases.inc(lost.length)
    for (const lease of lost) logger.warn('an instance is lost, its run goes to another', { ...lease })
    return lost.length
  }

/** Ends deployments as their instances said, where the broker lost the message: the bridge wrote down what they said. */
const untoldPart =
  (database: Database, logger: Logger, rows: Quarantine): Part =>
  async () => {
    const { rows: untold } = await database.query<EventBody<'run.finished'>>(
      `SELECT l.deployment_id, l.epoch, p.finished_outcome AS outcome, p.finished_reason AS reason,
              p.finished_error AS error_message
         FROM leases l JOIN run_progress p ON p.deployment_id = l.deployment_id AND p.epoch = l.epoch
        WHERE l.ended_at IS NULL AND p.finished_outcome IS NOT NULL
          AND p.finished_at < now() - interval '${UNTOLD_AFTER}'
          AND l.deployment_id <> ALL($1::uuid[])
        ORDER BY l.epoch LIMIT ${BATCH}`,
      [rows.held],
    )
    const outcomes = await rows.each(
      untold,
      ({ deployment_id }) => deployment_id,
      async (run) => {
        const outcome = await finishDeployment(database, run)
        if (outcome === null) return 0
        ended.inc({ state: outcome })
        logger.warn('ended a deployment of whose end no message came', { ...run, ended: outcome })
        return 1
      },
    )
    return sum(outcomes)
  }

/** A lease ends with its deployment, in one transaction; should one ever be left, its slot must not stay taken. */
const staleLeasePart =
  (database: Database, logger: Logger, rows: Quarantine): Part =>
  async () => {
    const stale = await endWhere(database, rows, 'final', {
      from: 'JOIN deployments d ON d.id = l.deployment_id',
      where: 'd.completed_at IS NOT NULL',
    })
    for (const lease of stale) logger.warn('ended the lease of a deployment that had ended', { ...lease })
    return stale.length
  }

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)

async function endWhere(
  database: Database,
  rows: Quarantine,
  reason: 'lost' | 'final',
  condition: { from: string; where: string },
): Promise<EndedLease[]> {
  const { rows: found } = await database.query<{ epoch: number }>(
    `SELECT l.epoch FROM leases l ${condition.from}
      WHERE l.ended_at IS NULL AND ${condition.where} AND l.epoch <> ALL($1::bigint[])
      ORDER BY l.epoch LIMIT ${BATCH}`,
    [rows.held],
  )
  const batches = await rows.together(
    found,
    ({ epoch }) => String(epoch),
    (leases) =>
      endBatch(
        database,
        reason,
        condition,
        leases.map(({ epoch }) => epoch),
      ),
  )
  return batches.flat()
}

function endBatch(
  database: Database,
  reason: 'lost' | 'final',
  condition: { from: string; where: string },
  epochs: readonly number[],
): Promise<EndedLease[]> {
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<EndedLease>(
      // Chosen once: as a condition it may be asked again for each live lease.
      `WITH chosen AS MATERIALIZED (
         SELECT l.epoch FROM leases l ${condition.from}
          WHERE l.epoch = ANY($2::bigint[]) AND l.ended_at IS NULL AND ${condition.where}
          ORDER BY l.epoch FOR UPDATE OF l SKIP LOCKED)
       UPDATE leases l SET ended_at = clock_timestamp(), end_reason = $1
         FROM chosen WHERE l.epoch = chosen.epoch AND ${STILL_HELD}
       RETURNING l.deployment_id, l.epoch, l.instance_id`,
      [reason, epochs],
    )
    // No wake-up: a lost instance cannot be reached, and any other is told by its next sync.
    await enqueue(
      tx,
      rows.map(({ instance_id }) => eventMessage('slot.freed', { instance_id })),
    )
    return rows
  })
}

const overduePart =
  (database: Database, logger: Logger, rows: Quarantine): Part =>
  async () => {
    const { rows: overdue } = await database.query<{ id: string }>(
      `SELECT id FROM deployments
        WHERE completed_at IS NULL AND state = 'running' AND deadline_at < now() - interval '${OVERDUE_AFTER}'
          AND id <> ALL($1::uuid[])
        ORDER BY deadline_at LIMIT ${BATCH}`,
      [rows.held],
    )
    const failed = await rows.each(
      overdue,
      ({ id }) => id,
      async ({ id }) => {
        if (!(await failOne(database, id))) return 0
        ended.inc({ state: 'failed' })
        logger.warn('failed a deployment that its instance did not end in time', { deployment_id: id })
        return 1
      },
    )
    return sum(failed)
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
