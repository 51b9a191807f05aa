import { type Database, enqueue, eventMessage, Quarantine } from '@slipway/database'
import { forRequest, type Logger } from '@slipway/runtime'
import { closeSteps } from '../deployments/close-steps.ts'
import { finishDeployment } from '../deployments/finish.ts'
import { ended } from '../deployments/metrics.ts'
import { deploymentUpdated, lockDeployment, transition } from '../deployments/transitions.ts'
import { type EndedLease, endLease } from '../leases/leases.ts'
import { lostLeases } from '../leases/metrics.ts'
import { dropLeftLocks } from '../locks/locks.sql.ts'
import { findFinishedRuns, findOverdue, LOST_LEASES, STALE_LEASES } from './runs.sql.ts'

interface SweepOptions {
  database: Database
  logger: Logger
}

/**
 * Creates the sweep. It ends leases and deployments that no live instance will end, and returns whether anything changed. Any
 * number of processes may sweep.
 */
export function createSweep({ database, logger }: SweepOptions): () => Promise<boolean> {
  const quarantine = (task: string) => new Quarantine({ task, logger })
  const parts = [
    lostLeasePart(database, logger, quarantine('sweep-lost')),
    overduePart(database, logger, quarantine('sweep-overdue')),
    lostMessagePart(database, logger, quarantine('sweep-finished')),
    staleLeasePart(database, logger, quarantine('sweep-stale')),
    () => dropLeftLocks.run(database),
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

/** Returns how many rows it changed. */
type Part = () => Promise<number>

/** Ends leases of instances without a heartbeat. Skips a lease with an event batch in progress. */
const lostLeasePart =
  (database: Database, logger: Logger, rows: Quarantine): Part =>
  async () => {
    const lost = await endLeases(database, rows, LOST_LEASES)
    lostLeases.inc(lost.length)
    for (const lease of lost) logger.warn('an instance is lost; another instance gets its run', { ...lease })
    return lost.length
  }

/** Ends deployments whose `run.finished` was lost. The bridge has stored their outcome. */
const lostMessagePart =
  (database: Database, logger: Logger, rows: Quarantine): Part =>
  async () => {
    const finished = await findFinishedRuns.all(database, { except: rows.held })
    const outcomes = await rows.each(
      finished,
      ({ deployment_id }) => deployment_id,
      async (run) => {
        const outcome = await finishDeployment(database, run)
        if (outcome === null) return 0
        ended.inc({ state: outcome })
        logger.warn('ended a deployment whose run.finished message was lost', { ...run, ended: outcome })
        return 1
      },
    )
    return sum(outcomes)
  }

/**
 * Ends leases of ended deployments. A lease ends in the transaction of its deployment, so there should be none. If one were
 * left, its slot would stay taken.
 */
const staleLeasePart =
  (database: Database, logger: Logger, rows: Quarantine): Part =>
  async () => {
    const stale = await endLeases(database, rows, STALE_LEASES)
    for (const lease of stale) logger.warn('ended the lease of a finished deployment', { ...lease })
    return stale.length
  }

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)

async function endLeases(database: Database, rows: Quarantine, sweep: typeof LOST_LEASES): Promise<EndedLease[]> {
  const batches = await rows.together(
    await sweep.find.all(database, { except: rows.held.map(Number) }),
    ({ epoch }) => String(epoch),
    (leases) =>
      endBatch(
        database,
        sweep,
        leases.map(({ epoch }) => epoch),
      ),
  )
  return batches.flat()
}

function endBatch(database: Database, sweep: typeof LOST_LEASES, epochs: readonly number[]): Promise<EndedLease[]> {
  return database.transaction(async (tx) => {
    const leases = await sweep.end.all(tx, { epochs })
    // No wake-up: a lost instance cannot be reached, and a live one learns it at its next sync.
    await enqueue(
      tx,
      leases.map(({ instance_id }) => eventMessage('slot.freed', { instance_id })),
    )
    return leases
  })
}

const overduePart =
  (database: Database, logger: Logger, rows: Quarantine): Part =>
  async () => {
    const overdue = await findOverdue.all(database, { except: rows.held })
    const failed = await rows.each(
      overdue,
      ({ id }) => id,
      async ({ id }) => {
        if (!(await failOne(database, id))) return 0
        ended.inc({ state: 'failed' })
        logger.warn('a deployment failed: its instance did not end it in time', { deployment_id: id })
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
      reason: 'deployment_timeout',
      killed: true,
    })
    const messages = [
      ...(lease ? [eventMessage('lease.changed', { instance_id: lease.instance_id })] : []),
      ...deploymentUpdated(deployment, 'failed'),
      ...(lease ? [eventMessage('slot.freed', { instance_id: lease.instance_id })] : []),
    ]
    await forRequest(deployment, () => enqueue(tx, messages))
    return true
  })
}
