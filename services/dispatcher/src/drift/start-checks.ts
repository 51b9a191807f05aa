import { attempt, type Database, enqueue, type Queryable, readRound } from '@slipway/database'
import { admit, type CheckRequest, type Decision, type Start } from '@slipway/engine'
import { type Logger, uuidv7 } from '@slipway/runtime'
import { insertSteps, insertTransitions } from '../deployments/write.sql.ts'
import { leaseSlots, leasesChanged, Moved } from '../leases/leases.ts'
import { lockAdmission } from '../locks/admission.sql.ts'
import { countCheckedActions, insertCheck, insertCheckedActions, insertCheckedTargets, refuseRun } from './run.sql.ts'
import { claim, schedule } from './schedule.sql.ts'

/** In each round a check starts or is refused. */
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
 * Starts the checks that are due and that nothing blocks. Returns how many. Any number of dispatchers may do so at once. The rows of a
 * check are written before its round, because its deployment may have many steps.
 */
export async function startChecks({ database, logger, every }: CheckOptions): Promise<number> {
  await schedule.run(database, { every, limit: SCHEDULED_AT_ONCE })
  let started = 0
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    let ended = 0
    for (const check of await findStartable(database, every)) {
      const targets = await database.transaction((tx) => startCheck(tx, check, every))
      if (targets === null) continue
      ended += 1
      if (targets === 0) continue
      started += 1
      logger.info('targets are checked', { deployment_id: check.id, targets })
    }
    if (ended === 0) break
  }
  return started
}

/** The checks that would start now. No lock keeps it so. */
async function findStartable(database: Database, every: number): Promise<CheckRequest[]> {
  const { snapshot, requests } = await database.together((db) =>
    readRound(db, { arrivals: [], heldOrphans: [], checks: { every } }),
  )
  return admit(snapshot, requests, snapshot.now).flatMap(({ is, request }) =>
    is === 'start' && request.kind === 'check' ? [request] : [],
  )
}

/** Thrown to take back the rows of a check that does not start. */
class StartsLater extends Error {
  override name = 'StartsLater'
}

/** Returns how many targets are checked: none if the check cannot run, null if it starts later or another dispatcher was first. */
async function startCheck(tx: Queryable, check: CheckRequest, every: number): Promise<number | null> {
  try {
    return await attempt(tx, (inner) => startNow(inner, check, every))
  } catch (error) {
    if (error instanceof StartsLater || error instanceof Moved) return null
    throw error
  }
}

async function startNow(tx: Queryable, check: CheckRequest, every: number): Promise<number | null> {
  const deployment_id = check.id
  const run_id = uuidv7()
  const spread = SPREAD.from + Math.random() * (SPREAD.to - SPREAD.from)
  const targets = await claim.run(tx, { deployment_id, run_id, every, spread, limit: MAX_TARGETS })
  if (targets === 0) return null
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
  const given = { ...check, id: run_id }
  const [, { snapshot, requests }] = await Promise.all([
    lockAdmission.run(tx, { command_ids: [] }),
    readRound(tx, { arrivals: [], heldOrphans: [], prepared: [run_id], checks: { given: [given] } }),
  ])
  const start = admit(snapshot, requests, snapshot.now).find(isStartOf(run_id))
  if (start === undefined) throw new StartsLater()
  const { slot } = start
  const message = `Check on instance ${slot.instance_name}`
  await insertTransitions.runRows(tx, [
    { deployment_id: run_id, number: 0, from_state: null, to_state: 'running', message },
  ])
  const leases = await leaseSlots(tx, snapshot, [{ slot, deployment_id: run_id }])
  await enqueue(tx, leasesChanged(leases, []))
  return targets
}

const isStartOf =
  (id: string) =>
  (decision: Decision): decision is Start =>
    decision.is === 'start' && decision.request.id === id
