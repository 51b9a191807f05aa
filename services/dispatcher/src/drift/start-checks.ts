import { type Database, enqueue, type Queryable } from '@slipway/database'
import type { InstanceSelector, MaybeSelector } from '@slipway/domain'
import { type Logger, uuidv7 } from '@slipway/runtime'
import { insertSteps, insertTransitions } from '../deployments/write.sql.ts'
import { insertLeases, type Slot } from '../leases/allocate.ts'
import { leasesChanged } from '../leases/changed.ts'
import { FreeSlots, lockMatchingSlots } from '../leases/pools.ts'
import { countCheckedActions, insertCheck, insertCheckedActions, insertCheckedTargets, refuseRun } from './run.sql.ts'
import { RunningChecks } from './running-checks.ts'
import { claim, countRunningChecks, findDue, schedule } from './schedule.sql.ts'

/** In each round a check starts, or at least one selector more turns out to have no free slot. */
const MAX_ROUNDS = 100
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

/**
 * Starts the checks that are due while there are free slots: first those of tenants without a running check, then further ones. Returns
 * how many. Any number of dispatchers may do so at once.
 */
export async function startChecks({ database, logger, every }: CheckOptions): Promise<number> {
  await schedule.run(database, { every, limit: SCHEDULED_AT_ONCE })
  const running = new RunningChecks(await countRunningChecks.all(database))
  let started = 0
  /** The selectors of instances without a free slot. Checks that need others do not wait for them. */
  const full: InstanceSelector[] = []
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const places = running.nextPlaces()
    if (places === null) break
    const due = await findDue.all(database, { every, limit: places.count, except: places.except, full })
    let progress = false
    for (const { deployment_id, tenant_id, selector } of due) {
      if (!running.mayStart(tenant_id)) continue
      const targets = await database.transaction((tx) => startCheck(tx, { deployment_id, tenant_id, selector, every }))
      if (targets === 'no slot' && selector !== null) full.push(selector)
      if (targets === 'no slot') progress ||= selector !== null
      else if (targets > 0) {
        running.add(tenant_id)
        progress = true
        started += 1
        logger.info('targets are checked', { deployment_id, targets })
      }
    }
    // Neither a check nor a selector is left for tenants with this number of running checks.
    if (!progress) running.nextTurn()
  }
  return started
}

interface DueCheck {
  deployment_id: string
  tenant_id: string | null
  selector: MaybeSelector
  every: number
}

/** Returns how many targets are checked: none if another dispatcher was first. */
async function startCheck(
  tx: Queryable,
  { deployment_id, tenant_id, selector, every }: DueCheck,
): Promise<number | 'no slot'> {
  const slot = await lockSlot(tx, tenant_id, selector)
  if (slot === undefined) return 'no slot'
  const run_id = uuidv7()
  const spread = SPREAD.from + Math.random() * (SPREAD.to - SPREAD.from)
  const targets = await claim.run(tx, { deployment_id, run_id, every, spread, limit: MAX_TARGETS })
  if (targets === 0) return 0
  const { actions } = await countCheckedActions.one(tx, { deployment_id })
  if (actions === 0) {
    await refuseRun.run(tx, {
      run_id,
      message: 'The deployment in force, or its source, was deleted: deploy again to check',
    })
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
async function lockSlot(tx: Queryable, tenantId: string | null, selector: MaybeSelector): Promise<Slot | undefined> {
  for (const owner of tenantId === null ? [null] : [tenantId, null]) {
    const slots = await lockMatchingSlots(tx, [selector], { count: 1, tenantId: owner })
    const free = selector === null ? new FreeSlots(slots) : await FreeSlots.withLabels(tx, slots)
    const slot = free.take(selector)
    if (slot !== undefined) return slot
  }
  return undefined
}
