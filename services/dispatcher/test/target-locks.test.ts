import { beforeEach, expect, test } from '@jest/globals'
import { readRound } from '@slipway/database'
import type { ConcurrencyPolicy } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import { addUser, testLogger as logger } from '@slipway/testing'
import { cancelDeployment } from '../src/deployments/cancel.ts'
import { confirmEnds } from '../src/deployments/close-steps.ts'
import { newRequestOf } from '../src/dispatch/start-commands.ts'
import { applySettings } from '../src/pending/settings.ts'
import { updatePending } from '../src/pending/update.ts'
import { createSweep } from '../src/runs/sweep.ts'
import { testDatabase } from './database.ts'
import {
  ADMIN,
  addInstance,
  copyRequest,
  liveLease,
  loseInstance,
  queue,
  setStep,
  startDeployment,
  stepStates,
} from './fixtures.ts'
import { requestsOf } from './requests.ts'
import { targetsOf } from './targets.ts'

const db = await testDatabase()
const { database, asDispatcher, catalog } = db
const { dispatchAll, pending } = requestsOf(db)
const { addTargets, setPolicy, command, deploy, holders, deploymentOf, finish, idOf } = targetsOf(db)

beforeEach(() => applySettings(asDispatcher, queue))

const addLockedTargets = (policy: ConcurrencyPolicy | null = 'queue') => addTargets({ a: policy, b: policy, c: policy })

/** Sets the states of all steps of a deployment on one of its targets. */
async function moveTarget(id: string, target: number, states: string[]): Promise<void> {
  for (const [action, state] of states.entries()) await setStep(database, id, [target, action], state)
}

const DONE = ['completed', 'completed', 'completed']

test('queue: the second deployment waits until the part of the first on the target is over', async () => {
  await addLockedTargets()
  await addInstance(database, 4)
  const first = await deploy('ab')
  expect(await holders()).toEqual({ a: first, b: first })
  const [second, other] = [await deploy('a'), await deploy('c')]
  expect(await pending(second)).toMatchObject({ status: 'pending' })
  expect(await holders()).toEqual({ a: first, b: first, c: other })
  await moveTarget(first, 0, ['completed', 'completed', 'running'])
  await dispatchAll()
  expect(await deploymentOf(second)).toBeNull()
  await moveTarget(first, 0, DONE)
  expect(await holders()).toEqual({ b: first, c: other })
  await dispatchAll()
  expect(await holders()).toEqual({ a: await deploymentOf(second), b: first, c: other })
  await finish(first)
  await finish(String(await deploymentOf(second)), 'failed')
  expect(await holders()).toEqual({ c: other })
})

test('allow: deployments run at the same time and lock nothing', async () => {
  await addLockedTargets(null)
  await addInstance(database, 4)
  const all = [await deploy('ab'), await deploy('ab')]
  expect(await Promise.all(all.map(deploymentOf))).toEqual(all)
  expect(await holders()).toEqual({})
})

test('the policy is that of the target, else of its environment, else of the settings', async () => {
  await addTargets({ a: null, b: 'allow', c: null })
  await addInstance(database, 9)
  const environment = uuidv7()
  await database.query(
    `INSERT INTO environments (id, name, concurrency, updated_at) VALUES ($1, $1::uuid::text, 'queue', now())`,
    [environment],
  )
  await database.query('UPDATE targets SET environment_id = $1 WHERE id = ANY ($2)', [
    environment,
    [idOf('a'), idOf('b')],
  ])
  const first = await deploy('abc')
  expect(await holders()).toEqual({ a: first })
  await applySettings(asDispatcher, { ...queue, target_concurrency: 'queue' })
  const second = await deploy('c')
  expect(await holders()).toEqual({ a: first, c: second })
})

test('a request that no instance matches reserves nothing', async () => {
  await addLockedTargets()
  const instance = await addInstance(database, 4)
  const unmatched = await deploy('ab', { selector: { match_labels: { zone: 'a' } }, priority: 100 })
  const first = await deploy('a')
  expect(await holders()).toEqual({ a: first })
  await database.query(`UPDATE instances SET labels = '{"zone":"a"}' WHERE id = $1`, [instance])
  const second = await deploy('b')
  expect(await holders()).toEqual({ a: first })
  await finish(first)
  await dispatchAll()
  const started = await deploymentOf(unmatched)
  expect(await holders()).toEqual({ a: started, b: started })
  expect(await deploymentOf(second)).toBeNull()
})

test('a released target causes a slot.freed message only if a request waits for the target', async () => {
  await addLockedTargets()
  await addInstance(database, 4)
  const first = await deploy('ab')
  const wakings = async () => (await database.query(`SELECT FROM outbox WHERE type = 'slot.freed'`)).rowCount
  await moveTarget(first, 0, DONE)
  expect(await wakings()).toBe(0)
  await deploy('b')
  await moveTarget(first, 1, DONE)
  expect(await wakings()).toBe(1)
})

test.each([
  ['none', true, DONE, true],
  ['none', true, ['completed', 'failed', 'skipped'], true],
  ['failed_target_only', true, DONE, true],
  ['failed_target_only', true, ['completed', 'failed', 'skipped'], false],
  ['failed_target_only', false, ['completed', 'failed', 'skipped'], true],
  ['failed_target_only', true, ['rolled_back', 'rolling_back', 'skipped'], false],
  ['failed_target_only', true, ['rolled_back', 'rollback_failed', 'skipped'], true],
  ['all_executed', true, DONE, false],
  ['all_executed', false, DONE, true],
  ['all_executed', true, ['skipped', 'skipped', 'skipped'], true],
  ['all_executed', true, ['completed', 'pending', 'pending'], false],
] as const)(
  'strategy %s, rollback scripts %s, steps %j: released %s',
  async (strategy, hasRollback, steps, isReleased) => {
    await addLockedTargets()
    await addInstance(database, 4)
    const start = command('ab')
    start.plan.options.rollback_strategy = strategy
    for (const action of start.plan.actions) action.has_rollback = hasRollback
    await startDeployment(database, start, { request_id: null })
    await moveTarget(start.command_id, 0, [...steps])
    expect(Object.keys(await holders())).toEqual(isReleased ? ['b'] : expect.arrayContaining(['a', 'b']))
    await finish(start.command_id, 'failed')
    expect(await holders()).toEqual({})
  },
)

test('reject: the refusal names the holder, the target and the time, and no request is created', async () => {
  await addTargets({ a: 'reject', b: 'queue' })
  await addInstance(database, 4)
  const first = await deploy('ab')
  const refused = deploy('ab')
  await expect(refused).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining(`is held by deployment ${first} since`),
    details: {
      held_targets: [
        { target_id: idOf('a'), target_name: expect.any(String), deployment_id: first, since: expect.any(String) },
      ],
    },
  })
  expect((await database.query('SELECT FROM pending_requests')).rowCount).toBe(0)
  await moveTarget(first, 0, DONE)
  expect(await pending(await deploy('ab'))).toMatchObject({ status: 'pending' })
})

test('reject: a caller of another tenant is not told which deployment holds the target', async () => {
  await addTargets({ a: 'reject' })
  await addInstance(database, 4)
  await deploy('a')
  const caller = { ...ADMIN, tenant_id: catalog.tenant_id }
  const error = await deploy('a', { tenant: true, caller }).catch((problem) => problem)
  expect(error).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('held by another deployment') })
  expect(error.details.held_targets[0]).not.toHaveProperty('deployment_id')
})

test('supersede: a user with rights in one environment replaces no request for another one', async () => {
  await addLockedTargets('supersede')
  await addInstance(database, 4)
  const [staging, production] = [uuidv7(), uuidv7()]
  for (const id of [staging, production]) {
    await database.query('INSERT INTO environments (id, name) VALUES ($1, $1::uuid::text)', [id])
  }
  const scope = { environment_ids: [staging], solution_ids: null }
  const { user_id } = await addUser(database, { username: 'sam', permissions: ['deployments:create'], scope })
  const sam = { ...ADMIN, user_id, username: 'sam', has_scope: true }
  await deploy('ab')
  const ask = async (environment: string, caller = ADMIN) => {
    const asked = command('a', { caller })
    asked.plan.environment = { id: environment, name: environment }
    await startDeployment(database, asked, { request_id: null })
    return asked.command_id
  }
  const [old, own] = [await ask(production), await ask(staging, sam)]
  expect(await pending(old)).toMatchObject({ status: 'pending' })
  const newer = await ask(staging, sam)
  expect(await pending(own)).toMatchObject({ status: 'cancelled', superseded_by: newer })
})

test('supersede: a newer request of the same source replaces the older one and takes over its place', async () => {
  await addLockedTargets('supersede')
  await addInstance(database, 4)
  const running = await deploy('ab')
  const old = await deploy('a')
  const otherSource = command('a')
  otherSource.plan.source = { ...otherSource.plan.source, id: uuidv7() }
  await startDeployment(database, otherSource, { request_id: null })
  const newer = await deploy('ab')
  expect(await pending(old)).toMatchObject({
    status: 'cancelled',
    superseded_by: newer,
    error_message: `Superseded by the request ${newer} of ada`,
  })
  expect(await pending(otherSource.command_id)).toMatchObject({ status: 'pending' })
  const { rows } = await database.query(
    `SELECT details FROM audit_records WHERE resource_id = $1 AND action = 'pending_request.supersede'`,
    [old],
  )
  expect(rows).toEqual([{ details: { superseded_by: newer } }])
  // A newer request with fewer targets does not replace it.
  const narrow = await deploy('b')
  expect(await pending(newer)).toMatchObject({ status: 'pending' })
  await finish(running)
  await dispatchAll()
  expect(Object.keys(await holders()).sort()).toEqual(['a', 'b'])
  expect(await deploymentOf(newer)).not.toBeNull()
  expect(await deploymentOf(otherSource.command_id)).toBeNull()
  expect(await deploymentOf(narrow)).toBeNull()
})

test('a more urgent create may take a free target before a pending request', async () => {
  await addLockedTargets()
  await addInstance(database, 9)
  const onB = await deploy('b')
  const wide = await deploy('ab')
  const urgent = await deploy('a', { priority: 5 })
  expect(await holders()).toEqual({ a: urgent, b: onB })
  await updatePending(
    asDispatcher,
    { pending_request_id: wide, priority: 9, caller: ADMIN },
    { command_id: uuidv7(), request_id: null },
  )
  await finish(urgent)
  expect(await deploymentOf(await deploy('a', { priority: 8 }))).toBeNull()
})

test('a request that a freeze holds reserves no target', async () => {
  await addLockedTargets()
  await addInstance(database, 9)
  const onA = await deploy('a')
  const held = await deploy('ab', { tenant: true })
  await database.query(
    `INSERT INTO freezes (id, name, start_time, end_time, tenant_id)
     VALUES ($1, $1::uuid::text, now() - interval '1 h', now() + interval '1 h', $2)`,
    [uuidv7(), catalog.tenant_id],
  )
  const onB = await deploy('b')
  expect(await holders()).toEqual({ a: onA, b: onB })
  expect(await deploymentOf(held)).toBeNull()
})

test('a deployment that lost its instance keeps its targets under its next lease', async () => {
  await addLockedTargets()
  const lost = await addInstance(database, 4)
  const first = await deploy('ab')
  await moveTarget(first, 0, DONE)
  const second = await deploy('b')
  await loseInstance(database, lost)
  await createSweep({ database: asDispatcher, logger })()
  await dispatchAll()
  expect(await holders()).toEqual({ b: first })
  await addInstance(database, 4)
  await dispatchAll()
  const { rows } = await database.query<{ epoch: number }>(
    'SELECT epoch FROM target_locks WHERE deployment_id IS NOT NULL',
  )
  expect(rows).toEqual([{ epoch: (await liveLease(database, first))?.epoch }])
  expect(await deploymentOf(second)).toBeNull()
  await finish(first)
  await dispatchAll()
  expect(await holders()).toEqual({ b: await deploymentOf(second) })
})

test('after a cancel a target stays locked until the instance confirms the end of its command', async () => {
  await addLockedTargets()
  await addInstance(database, 4)
  const first = await deploy('ab')
  await moveTarget(first, 0, ['running', 'pending', 'pending'])
  const { epoch } = (await liveLease(database, first)) ?? { epoch: 0 }
  const cancel = { deployment_id: first, caller: ADMIN }
  await cancelDeployment(asDispatcher, cancel, { command_id: uuidv7(), request_id: null })
  expect(await stepStates(database, first)).not.toContain('running')
  expect(await holders()).toEqual({ a: first })
  const [onA, onB] = [await deploy('a'), await deploy('b')]
  expect([await deploymentOf(onA), await deploymentOf(onB)]).toEqual([null, onB])
  await confirmEnds(asDispatcher, { deployment_id: first, epoch, unconfirmed: [] })
  expect(await holders()).toEqual({ b: onB })
  await dispatchAll()
  expect(await deploymentOf(onA)).not.toBeNull()
})

test('an abandoned lock is ignored and overwritten', async () => {
  await addLockedTargets()
  await addInstance(database, 4)
  const first = await deploy('a')
  await moveTarget(first, 0, ['running', 'pending', 'pending'])
  await cancelDeployment(
    asDispatcher,
    { deployment_id: first, caller: ADMIN },
    { command_id: uuidv7(), request_id: null },
  )
  await database.query(`UPDATE leases SET ended_at = ended_at - interval '31 seconds'`)
  const second = await deploy('a')
  expect(await holders()).toEqual({ a: second })
  await database.query('UPDATE target_locks SET deployment_id = $1, epoch = 0', [uuidv7()])
  const third = await deploy('a')
  expect(await holders()).toEqual({ a: third })
})

test('a change of the policy applies to pending requests', async () => {
  await addLockedTargets()
  await addInstance(database, 4)
  await deploy('a')
  const waiting = await deploy('ab')
  await setPolicy('a', 'allow')
  await dispatchAll()
  const started = await deploymentOf(waiting)
  expect(started).not.toBeNull()
  expect(await holders()).toMatchObject({ b: started })
})

test('a target that got its policy while a request was pending is locked at the start', async () => {
  await addTargets({ a: 'queue', b: null })
  await addInstance(database, 1)
  const running = await deploy('a')
  const waiting = await deploy('b')
  await setPolicy('b', 'queue')
  await finish(running)
  await dispatchAll()
  expect(await deploymentOf(waiting)).toBe(waiting)
  expect(await holders()).toEqual({ b: waiting })
})

test('10,000 requests for one target do not delay the requests behind them', async () => {
  await addLockedTargets()
  await addInstance(database, 9)
  const running = await deploy('a')
  const waiting = await deploy('a')
  await copyRequest(database, waiting, { count: 10_000, priority: -1 })
  await database.query('UPDATE pending_requests SET wants_targets = true')
  await database.query(
    `INSERT INTO pending_targets (request_id, target_id, rank)
     SELECT id, $1, rank FROM pending_requests WHERE id <> $2`,
    [idOf('a'), waiting],
  )
  const free = await deploy('b')
  const behind = await deploy('c')
  expect([await deploymentOf(free), await deploymentOf(behind)]).toEqual([free, behind])
  await finish(running)
  await dispatchAll()
  expect(await holders()).toMatchObject({ a: await deploymentOf(waiting) })
})

test('a round asks whether a lock holds only of the targets that its requests want', async () => {
  await addLockedTargets()
  await addInstance(database, 9)
  await deploy('a')
  await database.query(
    `INSERT INTO target_locks (target_id, deployment_id, epoch)
     SELECT gen_random_uuid(), deployment_id, epoch FROM target_locks, generate_series(1, 1000)`,
  )
  await deploy('a')
  await database.query('CREATE SEQUENCE asked')
  const { rows } = await database.query<{ before: string }>(
    `SELECT pg_get_functiondef('target_lock_holds'::regproc) AS before`,
  )
  const before = rows[0]?.before ?? ''
  await database.query(before.replace('RETURN EXISTS', `PERFORM nextval('asked'); RETURN EXISTS`))
  const wanted = newRequestOf({ command: command('ab'), request_id: null, traceparent: null })
  await database.transaction((tx) => readRound(tx, { arrivals: [wanted], heldOrphans: [] }))
  await database.query(before)
  expect((await database.query(`SELECT nextval('asked') - 1 AS times`)).rows).toEqual([{ times: 2 }])
})
