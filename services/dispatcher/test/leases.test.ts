import { describe, expect, test } from '@jest/globals'
import { uuidv7 } from '@slipway/runtime'
import { testLogger as logger } from '@slipway/testing'
import { finishDeployment } from '../src/deployments/finish.ts'
import { addLeases } from '../src/leases/leases.sql.ts'
import { createSweep } from '../src/runs/sweep.ts'
import { testDatabase } from './database.ts'
import {
  ADMIN,
  addInstance,
  type CommandOptions,
  deployment,
  liveLease,
  loseInstance,
  outbox,
  setStep,
  states,
  stepStates,
} from './fixtures.ts'
import { requestsOf } from './requests.ts'

const db = await testDatabase()
const { database, asDispatcher } = db
const { dispatchAll, submit, pending } = requestsOf(db)
const sweep = createSweep({ database: asDispatcher, logger })

test('a lease begins at its insert, not at the begin of its transaction: the slot may have become free since', async () => {
  await addInstance(database, 1)
  const id = await submit()
  await asDispatcher.transaction(async (tx) => {
    await tx.query('SELECT 1')
    const lease = await liveLease(database, id)
    const end = { deployment_id: id, epoch: lease?.epoch ?? 0, outcome: 'success', error_message: null } as const
    expect(await finishDeployment(asDispatcher, end)).toBe('success')
    await addLeases.run(tx, { leases: [{ instance_id: lease?.instance_id ?? '', slot: 0, deployment_id: id }] })
  })
  const { rows } = await database.query('SELECT acquired_at, ended_at FROM leases ORDER BY epoch')
  expect(rows).toHaveLength(2)
  expect(rows[1]?.['acquired_at'].getTime()).toBeGreaterThanOrEqual(rows[0]?.['ended_at'].getTime())
})

describe('sweep', () => {
  async function running(options: CommandOptions = {}): Promise<{ id: string; epoch: number; instance_id: string }> {
    const id = await submit(options)
    const lease = await liveLease(database, id)
    if (!lease) throw new Error('not started')
    return { id, ...lease }
  }

  test('a run of a lost instance continues on another one under a higher epoch; its running steps are reset or fail', async () => {
    const lost = await addInstance(database, 1)
    const { id, epoch } = await running({ max_retries: 1 })
    await setStep(database, id, [0, 0], 'completed')
    await setStep(database, id, [0, 1], 'running', 0)
    await setStep(database, id, [1, 0], 'running', 1)
    await loseInstance(database, lost)
    expect(await sweep()).toBe(true)
    expect(await liveLease(database, id)).toBeNull()

    const other = await addInstance(database, 1)
    const waiting = await submit({ priority: 100 })
    await dispatchAll()
    const lease = await liveLease(database, id)
    expect(lease?.instance_id).toBe(other)
    expect(lease?.epoch).toBeGreaterThan(epoch)
    expect((await pending(waiting)).status).toBe('pending')
    const { rows } = await database.query(
      `SELECT state, retry_count, ever_failed, error_message FROM steps
        WHERE deployment_id = $1 AND (target_index, action_index) IN ((0, 0), (0, 1), (1, 0)) ORDER BY target_index, action_index`,
      [id],
    )
    expect(rows).toEqual([
      { state: 'completed', retry_count: 0, ever_failed: false, error_message: null },
      { state: 'pending', retry_count: 1, ever_failed: false, error_message: null },
      {
        state: 'failed',
        retry_count: 1,
        ever_failed: true,
        error_message: 'the instance was lost while the command ran',
      },
    ])
    expect((await outbox(database, id)).filter((type) => type === 'lease.changed')).toHaveLength(2)
    expect(
      await finishDeployment(asDispatcher, { deployment_id: id, epoch, outcome: 'success', error_message: null }),
    ).toBeNull()
  })

  test('a step of a lost instance stays in the state rolling_back, so its rollback is repeated', async () => {
    const lost = await addInstance(database, 1)
    const { id } = await running()
    await database.query(`UPDATE deployments SET state = 'rolling_back' WHERE id = $1`, [id])
    await setStep(database, id, [0, 0], 'rolling_back')
    await loseInstance(database, lost)
    await sweep()
    await addInstance(database, 1)
    await dispatchAll()
    expect(await liveLease(database, id)).not.toBeNull()
    expect((await stepStates(database, id))[0]).toBe('rolling_back')
  })

  test('a cancelled orphan gets no new lease', async () => {
    const lost = await addInstance(database, 1)
    const { id } = await running()
    await loseInstance(database, lost)
    await sweep()
    const { cancelDeployment } = await import('../src/deployments/cancel.ts')
    await addInstance(database, 1)
    await Promise.all([
      cancelDeployment(asDispatcher, { deployment_id: id, caller: ADMIN }, { command_id: uuidv7(), request_id: null }),
      dispatchAll(),
    ])
    await dispatchAll()
    expect((await deployment(database, id)).state).toBe('cancelled')
    expect(await liveLease(database, id)).toBeNull()
  })

  test('a deployment that its instance does not end in time fails; its lease ends and the instance is notified', async () => {
    await addInstance(database, 1)
    const { id } = await running({ deployment_timeout_seconds: 5 })
    await setStep(database, id, [0, 0], 'running')
    await database.query(`UPDATE deployments SET deadline_at = now() - interval '59 seconds' WHERE id = $1`, [id])
    expect(await sweep()).toBe(false)
    await database.query(`UPDATE deployments SET deadline_at = now() - interval '61 seconds' WHERE id = $1`, [id])
    expect(await sweep()).toBe(true)
    expect(await deployment(database, id)).toMatchObject({
      state: 'failed',
      error_message: 'The deployment ran out of its time',
    })
    expect(await stepStates(database, id)).toEqual(['failed', ...Array(5).fill('skipped')])
    expect(await liveLease(database, id)).toBeNull()
    expect(await outbox(database, id)).toContain('lease.changed')
  })

  test('a run whose run.finished message was lost ends with the outcome that its instance reported', async () => {
    await addInstance(database, 2)
    const [one, two] = [await running(), await running()]
    const told = (id: string, epoch: number, seconds: number) =>
      database.query(
        `INSERT INTO run_progress (deployment_id, epoch, finished_at, finished_outcome, finished_error)
         VALUES ($1, $2, now() - make_interval(secs => $3), 'failed', 'disk full')`,
        [id, epoch, seconds],
      )
    // The first end is of an earlier epoch. The message of the second one may still arrive.
    await told(one.id, one.epoch - 1, 60)
    await told(two.id, two.epoch, 4)
    expect(await sweep()).toBe(false)
    await database.query(`UPDATE run_progress SET finished_at = now() - interval '6 seconds'`)
    expect(await sweep()).toBe(true)
    expect(await states(database, two.id)).toEqual(['running', 'failed'])
    expect(await deployment(database, two.id)).toMatchObject({ state: 'failed', error_message: 'disk full' })
    expect(await liveLease(database, two.id)).toBeNull()
    expect((await deployment(database, one.id)).state).toBe('running')
    expect(await sweep()).toBe(false)
  })

  test('a live lease of an ended deployment ends', async () => {
    await addInstance(database, 1)
    const { id } = await running()
    await database.query(`UPDATE deployments SET state = 'success', completed_at = now() WHERE id = $1`, [id])
    expect(await sweep()).toBe(true)
    expect(await liveLease(database, id)).toBeNull()
  })
})
