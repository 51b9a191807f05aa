import { type Database, enqueue, type Queryable } from '@slipway/database'
import { type Logger, uuidv7 } from '@slipway/runtime'
import { insertSteps, insertTransitions } from '../deployments/write.sql.ts'
import { insertLeases, lockFreeSlots, lockOwnSlots, type Slot } from '../leases/allocate.ts'
import { leasesChanged } from '../leases/changed.ts'
import { countCheckedActions, insertCheck, insertCheckedActions, insertCheckedTargets, refuseRun } from './run.sql.ts'
import { claim, countRunningChecks, findDue, schedule } from './schedule.sql.ts'

/** Each check takes a slot, and deployments need them. */
const MAX_RUNNING = 4
const MAX_TARGETS = 10_000
const SCHEDULED_AT_ONCE = 10_000
/** So that checks of deployments that came into force together do not stay together. */
const SPREAD = { from: 0.9, to: 1.1 }

interface CheckOptions {
  database: Database
  logger: Logger
  /** Seconds between the checks of a release whose actions name no interval; 0 for never. */
  every: number
}

/** Starts the checks that are due while there are free slots. Returns how many. Any number of dispatchers may do so at once. */
export async function startChecks({ database, logger, every }: CheckOptions): Promise<number> {
  await schedule.run(database, { every, limit: SCHEDULED_AT_ONCE })
  const { running } = await countRunningChecks.one(database)
  if (running >= MAX_RUNNING) return 0
  const due = await findDue.all(database, { every, limit: MAX_RUNNING - running })
  let started = 0
  for (const { deployment_id, tenant_id } of due) {
    const targets = await database.transaction((tx) => startCheck(tx, { deployment_id, tenant_id, every }))
    if (targets === 0) continue
    started += 1
    logger.info('targets are checked', { deployment_id, targets })
  }
  return started
}

interface DueCheck {
  deployment_id: string
  tenant_id: string | null
  every: number
}

/** Returns how many targets are checked: none without a free slot, or if another dispatcher was first. */
async function startCheck(tx: Queryable, { deployment_id, tenant_id, every }: DueCheck): Promise<number> {
  const slot = await lockSlot(tx, tenant_id)
  if (slot === undefined) return 0
  const run_id = uuidv7()
  const spread = SPREAD.from + Math.random() * (SPREAD.to - SPREAD.from)
  const targets = await claim.run(tx, { deployment_id, run_id, every, spread, limit: MAX_TARGETS })
  if (targets === 0) return 0
  const { actions } = await countCheckedActions.one(tx, { deployment_id })
  if (actions === 0) {
    await refuseRun.run(tx, { run_id, message: 'Retention has deleted the deployment in force: deploy again' })
    return 0
  }
  await insertCheck.run(tx, { run_id, deployment_id, total_steps: targets * actions })
  await insertCheckedTargets.run(tx, { run_id, deployment_id })
  await insertCheckedActions.run(tx, { run_id, deployment_id })
  await insertSteps.runRows(tx, [{ deployment_id: run_id, target_count: targets, action_count: actions }])
  const message = `Check on instance ${slot.instance_name}`
  await insertTransitions.runRows(tx, [
    { deployment_id: run_id, number: 0, from_state: null, to_state: 'running', message },
  ])
  const leases = await insertLeases(tx, [{ slot, deployment_id: run_id }])
  await enqueue(tx, leasesChanged(leases, []))
  return targets
}

/** An instance of the tenant first, as for its deployments. */
async function lockSlot(tx: Queryable, tenantId: string | null): Promise<Slot | undefined> {
  const own = await lockOwnSlots(tx, [tenantId])
  const [slot = (await lockFreeSlots(tx, 1))[0]] = own.get(tenantId ?? '') ?? []
  return slot
}
