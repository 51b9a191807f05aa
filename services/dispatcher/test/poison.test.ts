import { afterEach, describe, expect, test } from '@jest/globals'
import { Quarantine } from '@slipway/database'
import { addPending, testLogger } from '@slipway/testing'
import { finishDeployment } from '../src/deployments/finish.ts'
import { dispatchQueue } from '../src/dispatch/dispatch-queue.ts'
import { retain } from '../src/retention/retain.ts'
import { createSweep } from '../src/runs/sweep.ts'
import { testDatabase } from './database.ts'
import {
  addInstance,
  type CommandOptions,
  deployment,
  liveLease,
  loseInstance,
  startCommand,
  startDeployment,
  states,
} from './fixtures.ts'

const { database, asDispatcher, catalog } = await testDatabase()
/** Errors are expected in these tests, so they are not logged. */
const logger = { ...testLogger, error: () => {}, warn: () => {} }
const sweepOnce = () => createSweep({ database: asDispatcher, logger })()

interface Run {
  id: string
  epoch: number
}

async function running(options: CommandOptions = {}): Promise<Run> {
  const command = startCommand(catalog, options)
  await startDeployment(database, command, { request_id: null })
  const lease = await liveLease(database, command.command_id)
  if (!lease) throw new Error('not started')
  return { id: command.command_id, epoch: lease.epoch }
}

/** Makes each change of the matching rows fail until `cure`. */
async function poison(table: string, event: 'UPDATE' | 'DELETE' | 'INSERT', condition: string): Promise<void> {
  await database.query(
    `CREATE OR REPLACE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN RAISE EXCEPTION 'this row is poisoned'; END $$`,
  )
  await database.query(
    `CREATE TRIGGER poison BEFORE ${event} ON ${table} FOR EACH ROW WHEN (${condition}) EXECUTE FUNCTION poison()`,
  )
}
const cure = () => database.query('DROP FUNCTION IF EXISTS poison() CASCADE')
afterEach(cure)

describe('an outcome that the state of the deployment does not allow', () => {
  async function rollingBack(): Promise<Run> {
    const run = await running()
    await database.query(`UPDATE deployments SET state = 'rolling_back' WHERE id = $1`, [run.id])
    return run
  }

  test('ends the deployment as failed and frees its slot', async () => {
    await addInstance(database, 1)
    const { id, epoch } = await rollingBack()
    const success = { deployment_id: id, epoch, outcome: 'success', error_message: null } as const
    expect(await finishDeployment(asDispatcher, success)).toBe('failed')
    expect(await deployment(database, id)).toMatchObject({
      state: 'failed',
      error_message: 'The instance reported the end success while the deployment was rolling_back',
    })
    expect(await liveLease(database, id)).toBeNull()
  })

  test('records the state rolling_back although no message announced the rollback', async () => {
    await addInstance(database, 1)
    const { id, epoch } = await running()
    await database.query('INSERT INTO run_progress (deployment_id, epoch, rolling_back) VALUES ($1, $2, true)', [
      id,
      epoch,
    ])
    const success = { deployment_id: id, epoch, outcome: 'success', error_message: null } as const
    expect(await finishDeployment(asDispatcher, success)).toBe('failed')
    expect(await states(database, id)).toEqual(['running', 'rolling_back', 'failed'])
  })

  test('without its message is found by the sweep, which ends this and all other runs', async () => {
    await addInstance(database, 3)
    const runs = [await running(), await rollingBack(), await running()]
    for (const { id, epoch } of runs) {
      await database.query(
        `INSERT INTO run_progress (deployment_id, epoch, finished_at, finished_outcome)
         VALUES ($1, $2, now() - interval '1 day', 'success')`,
        [id, epoch],
      )
    }
    expect(await sweepOnce()).toBe(true)
    const ends = await Promise.all(runs.map(async ({ id }) => (await deployment(database, id)).state))
    expect(ends).toEqual(['success', 'failed', 'success'])
    for (const { id } of runs) expect(await liveLease(database, id)).toBeNull()
  })
})

describe('a row that cannot be processed does not stop the processing of', () => {
  const finished = ({ id, epoch }: Run) =>
    database.query(
      `INSERT INTO run_progress (deployment_id, epoch, finished_at, finished_outcome)
       VALUES ($1, $2, now() - interval '1 minute', 'success')`,
      [id, epoch],
    )

  test('other ends of runs without a message', async () => {
    await addInstance(database, 2)
    const [bad, good] = [await running(), await running()]
    await finished(bad)
    await finished(good)
    await poison('deployments', 'UPDATE', `OLD.id = '${bad.id}'`)
    await sweepOnce()
    expect(await liveLease(database, good.id)).toBeNull()
    expect(await liveLease(database, bad.id)).not.toBeNull()
    await cure()
    await sweepOnce()
    expect(await liveLease(database, bad.id)).toBeNull()
  })

  test('itself: it is retried with backoff', async () => {
    await addInstance(database, 1)
    const bad = await running()
    await finished(bad)
    await poison('deployments', 'UPDATE', `OLD.id = '${bad.id}'`)
    const sweep = createSweep({ database: asDispatcher, logger })
    await sweep()
    await cure()
    expect(await sweep()).toBe(false)
    const deadline = Date.now() + 60_000
    while (!(await sweep())) {
      if (Date.now() > deadline) throw new Error('the row was not tried again')
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    expect((await deployment(database, bad.id)).state).toBe('success')
  })

  test('other leases of a lost instance', async () => {
    const lost = await addInstance(database, 3)
    const runs = [await running(), await running(), await running()]
    await loseInstance(database, lost)
    await poison('leases', 'UPDATE', `OLD.deployment_id = '${runs[1]?.id}'`)
    await sweepOnce()
    const live = await Promise.all(runs.map(({ id }) => liveLease(database, id)))
    expect(live.map((lease) => lease !== null)).toEqual([false, true, false])
  })

  test('other overdue deployments and the later parts of the sweep', async () => {
    await addInstance(database, 3)
    const [bad, good, stale] = [
      await running({ deployment_timeout_seconds: 5 }),
      await running({ deployment_timeout_seconds: 5 }),
      await running(),
    ]
    await database.query(`UPDATE deployments SET deadline_at = now() - interval '1 hour' WHERE deadline_at IS NOT NULL`)
    await database.query(`UPDATE deployments SET state = 'success', completed_at = now() WHERE id = $1`, [stale.id])
    await poison('deployments', 'UPDATE', `OLD.id = '${bad.id}'`)
    await sweepOnce()
    expect((await deployment(database, good.id)).state).toBe('failed')
    expect((await deployment(database, bad.id)).state).toBe('running')
    expect(await liveLease(database, stale.id)).toBeNull()
  })

  test('other orphans and pending requests', async () => {
    const lost = await addInstance(database, 2)
    const [bad, good] = [await running(), await running()]
    await loseInstance(database, lost)
    await sweepOnce()
    const command = startCommand(catalog)
    await startDeployment(database, command, { request_id: null })
    await poison('leases', 'INSERT', `NEW.deployment_id = '${bad.id}'`)
    await addInstance(database, 3)
    const orphans = new Quarantine({ task: 'resume', logger })
    await dispatchQueue({ database: asDispatcher, logger, orphans, onCommitted() {} })
    expect(await liveLease(database, good.id)).not.toBeNull()
    expect(await liveLease(database, bad.id)).toBeNull()
    const { rows } = await database.query('SELECT status FROM pending_requests WHERE id = $1', [command.command_id])
    expect(rows).toEqual([{ status: 'dispatched' }])
    await cure()
    await dispatchQueue({ database: asDispatcher, logger, onCommitted() {} })
    expect(await liveLease(database, bad.id)).not.toBeNull()
  })

  test('other pending requests, if its command cannot be read', async () => {
    const [bad, good] = [startCommand(catalog, { priority: 9 }), startCommand(catalog)]
    for (const command of [bad, good]) await startDeployment(database, command, { request_id: null })
    await database.query(
      `UPDATE pending_requests SET command = jsonb_set(command, '{plan,actions}', '"none"') WHERE id = $1`,
      [bad.command_id],
    )
    await addInstance(database, 2)
    await dispatchQueue({ database: asDispatcher, logger, onCommitted() {} })
    const { rows } = await database.query('SELECT status, retry_count FROM pending_requests ORDER BY priority DESC')
    expect(rows).toEqual([
      { status: 'pending', retry_count: 1 },
      { status: 'dispatched', retry_count: 0 },
    ])
  })

  test.each(['steps', 'leases'])(
    'other pending requests, if the %s of its large plan cannot be written',
    async (table) => {
      const { rows: targets } = await database.query<{ id: string }>(
        `INSERT INTO targets (id, name, connection, updated_at)
       SELECT gen_random_uuid(), 'large ' || gen_random_uuid(), '{"type":"local"}', now() FROM generate_series(1, 400) RETURNING id`,
      )
      const bad = startCommand({ ...catalog, target_ids: targets.map(({ id }) => id) }, { priority: 9 })
      const good = startCommand(catalog)
      for (const command of [bad, good]) await startDeployment(database, command, { request_id: null })
      await poison(table, 'INSERT', `NEW.deployment_id = '${bad.command_id}'`)
      await addInstance(database, 1)
      await dispatchQueue({ database: asDispatcher, logger, onCommitted() {} })
      const { rows } = await database.query('SELECT status, retry_count FROM pending_requests ORDER BY priority DESC')
      expect(rows).toEqual([
        { status: 'pending', retry_count: 1 },
        { status: 'dispatched', retry_count: 0 },
      ])
      expect((await database.query('SELECT FROM deployments WHERE id = $1', [bad.command_id])).rowCount).toBe(0)
    },
  )

  test('other deployments that retention drops', async () => {
    await addInstance(database, 3)
    const runs = [await running(), await running(), await running()]
    for (const { id, epoch } of runs) {
      await finishDeployment(asDispatcher, { deployment_id: id, epoch, outcome: 'success', error_message: null })
    }
    await database.query(
      `UPDATE deployments SET created_at = now() - interval '100 days', completed_at = now() - interval '99 days'`,
    )
    await poison('deployments', 'DELETE', `OLD.id = '${runs[1]?.id}'`)
    const rules = { logDays: null, resultDays: null, deploymentDays: 30, auditDays: null, keepDeployments: 0 }
    const options = { database, rules, logger, signal: new AbortController().signal }
    expect(await retain(options)).toMatchObject({ deployments: 2 })
    const { rows } = await database.query('SELECT id FROM deployments')
    expect(rows).toEqual([{ id: runs[1]?.id }])
    await cure()
    expect(await retain(options)).toMatchObject({ deployments: 1 })
  })

  test('the next type of record that retention drops', async () => {
    const id = await addPending(database, { status: 'cancelled' })
    await database.query(`UPDATE pending_requests SET created_at = now() - interval '99 days' WHERE id = $1`, [id])
    await database.query(
      `INSERT INTO audit_records (id, at, action, resource_type, details) VALUES ($1, now() - interval '99 days', '', '', '{}')`,
      [id],
    )
    await poison('pending_requests', 'DELETE', 'true')
    const rules = { logDays: null, resultDays: 30, deploymentDays: 30, auditDays: 30, keepDeployments: 0 }
    const options = { database, rules, logger, signal: new AbortController().signal }
    expect(await retain(options)).toMatchObject({ deployments: 0, results: 0 })
  })
})
