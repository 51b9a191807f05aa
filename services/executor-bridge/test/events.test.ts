import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { MAX_BATCH_EVENTS, type RunEvent, type StoredLine } from '@slipway/contracts'
import { type OpenTestDatabase, openTestDatabase, waitFor, whileCommitsFail } from '@slipway/testing'
import { IllegalEvent } from '../src/callers/refusal.ts'
import { foldEvents } from '../src/events/fold.ts'
import { moveSteps } from '../src/events/steps.ts'
import { ended, finished, line, started } from './events.ts'
import {
  endLease,
  type Joined,
  joinInstance,
  lease,
  post,
  type RunOptions,
  type SeededRun,
  seedRun,
  startBridge,
  type TestBridge,
} from './setup.ts'

let db: OpenTestDatabase
let one: TestBridge
let other: TestBridge
let instance: Joined
let slot = 0

beforeAll(async () => {
  db = await openTestDatabase()
  // Otherwise autovacuum may collect statistics while the table is small. Postgres then keeps a plan that reads the whole table.
  await db.database.query('ALTER TABLE steps SET (autovacuum_enabled = false)')
  one = await startBridge(db.database)
  other = await startBridge(db.database)
  instance = await joinInstance(one, { capacity: 100 })
})

afterAll(async () => {
  await Promise.all([one?.close(), other?.close()])
  await db?.drop()
})

const newRun = (options: Partial<RunOptions> = {}) => {
  slot += 1
  return seedRun(db.database, { instanceId: instance.id, slot, ...options })
}

/** Sends events of a stopped run, as an instance does. */
const sendAfterStop = (run: SeededRun, firstEvent: number, events: RunEvent[]) =>
  post(`${one.url}/v1/runs/${run.deploymentId}/events`, instance.credential, {
    epoch: run.epoch,
    first_event: firstEvent,
    events,
    after_stop: true,
  })

/** Ends the lease and the running step as a cancel does. */
async function cancel({ deploymentId, epoch }: SeededRun, endedAgo = '0 seconds'): Promise<void> {
  await db.database.query(
    `UPDATE leases SET ended_at = clock_timestamp() - $2::interval, end_reason = 'cancelled' WHERE epoch = $1`,
    [epoch, endedAgo],
  )
  await db.database.query(
    `UPDATE steps SET state = 'cancelled', completed_at = CASE WHEN state = 'running' THEN clock_timestamp() END
      WHERE deployment_id = $1 AND state IN ('pending', 'running')`,
    [deploymentId],
  )
}

const send = (run: SeededRun, firstEvent: number, events: RunEvent[], bridge = one, epoch = run.epoch) =>
  post(`${bridge.url}/v1/runs/${run.deploymentId}/events`, instance.credential, {
    epoch,
    first_event: firstEvent,
    events,
  })

async function storedLines(run: SeededRun): Promise<string[]> {
  const { rows } = await db.database.query<{ first_line: number; line_count: number; lines: StoredLine[] }>(
    'SELECT first_line, line_count, lines FROM log_chunks WHERE deployment_id = $1 ORDER BY first_line',
    [run.deploymentId],
  )
  let next = 0
  for (const { first_line, line_count, lines } of rows) {
    expect({ first_line, line_count }).toEqual({ first_line: next, line_count: lines.length })
    next += line_count
  }
  return rows.flatMap(({ lines }) => lines.map(({ m }) => m))
}

const progressOf = async (run: SeededRun) =>
  (await db.database.query('SELECT * FROM run_progress WHERE deployment_id = $1', [run.deploymentId])).rows[0]

const stepsOf = async (run: SeededRun) =>
  (
    await db.database.query('SELECT * FROM steps WHERE deployment_id = $1 ORDER BY target_index, action_index', [
      run.deploymentId,
    ])
  ).rows

const outboxOf = async (run: SeededRun) =>
  (
    await db.database.query<{ type: string; body: unknown }>(
      `SELECT type, body FROM outbox WHERE body->>'deployment_id' = $1 ORDER BY id`,
      [run.deploymentId],
    )
  ).rows

describe('a batch of events', () => {
  test('changes the states of steps, stores command results and lines, and counts ended steps', async () => {
    const run = await newRun()
    const failure = { state: 'failed', exit_code: 3, error_message: 'exit code 3', stderr_tail: 'oops' } as const
    const events = [
      started(0, 0),
      line(0),
      ended(0, 0, { stdout_tail: 'x'.repeat(3_000) }),
      started(1, 0),
      ended(1, 0, failure),
    ]
    const skip: RunEvent = {
      type: 'steps_skipped',
      at: '2026-01-31T09:00:03Z',
      steps: [
        [0, 1],
        [1, 1],
      ],
    }
    expect(await send(run, 0, [...events, skip])).toEqual({ status: 200, body: { next_event: 6 } })

    expect(await stepsOf(run)).toMatchObject([
      { state: 'completed', exit_code: 0, ever_failed: false },
      { state: 'skipped', exit_code: null, started_at: null },
      { state: 'failed', exit_code: 3, error_message: 'exit code 3', ever_failed: true },
      { state: 'skipped' },
    ])
    expect(await progressOf(run)).toMatchObject({
      next_event: 6,
      next_line: 1,
      ended_steps: 4,
      completed_steps: 1,
      failed_steps: 1,
    })
    const { rows: results } = await db.database.query(
      'SELECT * FROM command_results WHERE deployment_id = $1 ORDER BY target_index',
      [run.deploymentId],
    )
    expect(results).toMatchObject([
      { status: 'completed', stdout_tail: 'x'.repeat(2_000), analysis: null },
      {
        status: 'failed',
        stderr_tail: 'oops',
        error_message: 'exit code 3',
        analysis: { model_version: 'rules-3', fingerprint: expect.stringMatching(/^unknown-/) },
      },
    ])
    expect(one.published.at(-1)).toMatchObject({
      first_event: 0,
      next_event: 6,
      first_line: 0,
      ended_steps: 4,
      total_steps: 4,
    })
    expect(one.published.at(-1)?.steps.map(({ state, output }) => [state, output])).toEqual([
      ['completed', 'x'.repeat(2_000)],
      ['failed', 'oops'],
      ['skipped', undefined],
      ['skipped', undefined],
    ])
  })

  test('that is repeated changes nothing and is acknowledged', async () => {
    const run = await newRun()
    const events = [started(0, 0), line(0), line(1), ended(0, 0)]
    await send(run, 0, events)
    const before = await Promise.all([stepsOf(run), progressOf(run)])
    expect((await send(run, 0, events)).body).toEqual({ next_event: 4 })
    expect(await Promise.all([stepsOf(run), progressOf(run)])).toEqual(before)
    expect(await storedLines(run)).toEqual(['line 0', 'line 1'])
  })

  test('whose commit fails is not acknowledged, and is applied when it is sent again', async () => {
    const run = await newRun()
    const events = [started(0, 0), line(0)]
    const { status } = await whileCommitsFail(db.database, 'run_progress', () => send(run, 0, events))
    expect(status).toBe(500)
    expect(await storedLines(run)).toEqual([])
    expect(await send(run, 0, events)).toEqual({ status: 200, body: { next_event: 2 } })
    expect(await storedLines(run)).toEqual(['line 0'])
  })

  test('stores with each line its target and its action', async () => {
    const run = await newRun()
    const events = [started(1, 0), { ...line(0), target: 1 }, { ...line(1), target: null, action: null }] as RunEvent[]
    await send(run, 0, events)
    const { rows } = await db.database.query<{ lines: StoredLine[] }>(
      'SELECT lines FROM log_chunks WHERE deployment_id = $1',
      [run.deploymentId],
    )
    expect(rows.flatMap(({ lines }) => lines.map(({ i, a }) => [i, a]))).toEqual([
      [1, 0],
      [null, null],
    ])
  })

  test('that overlaps with applied events adds only the new ones', async () => {
    const run = await newRun()
    await send(run, 0, [started(0, 0), line(0), line(1)])
    expect((await send(run, 1, [line(0), line(1), line(2), ended(0, 0)])).body).toEqual({ next_event: 5 })
    expect(await storedLines(run)).toEqual(['line 0', 'line 1', 'line 2'])
    expect(await progressOf(run)).toMatchObject({ next_line: 3, ended_steps: 1 })
  })

  test('after a gap is not applied, and the answer names the next expected event', async () => {
    const run = await newRun()
    await send(run, 0, [started(0, 0)])
    expect(await send(run, 2, [ended(0, 0)])).toEqual({ status: 200, body: { next_event: 1 } })
    expect(await stepsOf(run)).toMatchObject([{ state: 'running' }, {}, {}, {}])
  })

  test('with a gap in its line numbers is refused completely', async () => {
    const run = await newRun()
    const { status, body } = await send(run, 0, [started(0, 0), line(1)])
    expect([status, body.error.code]).toEqual([400, 'VALIDATION_ERROR'])
    expect(body.error.message).toMatch(/line 1 came where line 0 was expected/)
    expect(await progressOf(run)).toBeUndefined()
    expect(await stepsOf(run)).toMatchObject([{ state: 'pending' }, {}, {}, {}])
  })

  test.each<[string, RunEvent[]]>([
    ['a target outside the plan', [started(2, 0)]],
    ['an action outside the plan', [started(0, 2)]],
    ['a line of a target outside the plan', [{ ...line(0), target: 9 } as RunEvent]],
    [
      'a host key of a target outside the plan',
      [{ type: 'host_key', at: '2026-01-31T09:00:00Z', target: 5, host_key: 'k' }],
    ],
    ['a step that ends twice', [started(0, 0), ended(0, 0), ended(0, 0)]],
    ['an event after the end', [finished(), line(0)]],
  ])('with %s is refused with 400, and the run ends failed', async (_what, events) => {
    const run = await newRun()
    expect(await send(run, 0, events)).toMatchObject({ status: 400, body: { error: { code: 'VALIDATION_ERROR' } } })
    expect(await progressOf(run)).toMatchObject({
      next_event: 0,
      finished_outcome: 'failed',
      finished_reason: 'illegal_event',
    })
  })

  test('that violates the schema, is too long or is not JSON is refused', async () => {
    const run = await newRun()
    const url = `${one.url}/v1/runs/${run.deploymentId}/events`
    const lines = Array.from({ length: MAX_BATCH_EVENTS + 1 }, (_, n) => line(n))
    expect((await send(run, 0, lines)).status).toBe(400)
    expect(
      (await post(url, instance.credential, { epoch: run.epoch, first_event: 0, events: [{ type: 'x' }] })).status,
    ).toBe(400)
    expect((await post(url, instance.credential, '{"epoch":')).body.error.code).toBe('INVALID_BODY')
    const big = JSON.stringify({ text: 'x'.repeat(9 * 1024 * 1024) })
    expect((await post(url, instance.credential, big)).status).toBe(413)
  })

  test('with NUL and half surrogates is stored with U+FFFD in their place', async () => {
    const run = await newRun()
    const hostile = `a\0b\ud800c \\u0000 😀`
    const failed = ended(0, 0, { state: 'failed', exit_code: 1, error_message: hostile, stdout_tail: hostile })
    const odd = { ...line(0, hostile), metadata: { key: hostile } } as RunEvent
    expect((await send(run, 0, [started(0, 0), odd, failed])).status).toBe(200)
    const mended = 'a\ufffdb\ufffdc \\u0000 😀'
    expect(await storedLines(run)).toEqual([mended])
    expect((await stepsOf(run))[0]).toMatchObject({ error_message: mended })
  })

  test('with a further attempt increments retry_count, and the last attempt gives the result', async () => {
    const run = await newRun({ maxRetries: 1 })
    await send(run, 0, [started(0, 0, 0)])
    await send(run, 1, [
      started(0, 0, 1),
      ended(0, 0, { attempt: 1, state: 'failed', exit_code: 7, error_message: 'exit code 7' }),
    ])
    expect((await stepsOf(run))[0]).toMatchObject({ state: 'failed', retry_count: 1, exit_code: 7 })
  })

  test('of an instance with a clock ahead stores no time in the future', async () => {
    const run = await newRun({ maxRetries: 1 })
    const ahead = new Date(Date.now() + 3_600_000).toISOString()
    const start = (action: number, attempt: number) => ({ ...started(0, action, attempt), at: ahead }) as RunEvent
    await send(run, 0, [start(0, 0), { ...ended(0, 0, { started_at: ahead }), at: ahead } as RunEvent, start(1, 0)])
    await send(run, 3, [start(1, 1)])
    await cancel(run)
    const [{ now }] = (await db.database.query('SELECT clock_timestamp() AS now')).rows as [{ now: Date }]
    const [first, second] = (await stepsOf(run)) as Record<string, Date>[]
    const { rows } = await db.database.query<{ started_at: Date; completed_at: Date }>(
      'SELECT started_at, completed_at FROM command_results WHERE deployment_id = $1',
      [run.deploymentId],
    )
    const times = [
      ...[first?.['started_at'], first?.['completed_at'], rows[0]?.started_at, rows[0]?.completed_at],
      ...[second?.['started_at'], second?.['attempt_started_at'], second?.['completed_at']],
    ].map(Number)
    expect(Math.max(...times)).toBeLessThanOrEqual(Number(now))
    // The cancel is later than the start of the last attempt, which is later than the start of the first.
    expect(times.slice(-3)).toEqual(times.slice(-3).sort((a, b) => a - b))
    expect(second?.['retry_count']).toBe(1)
  })

  test('of an instance with a clock behind stores no time before its lease', async () => {
    const run = await newRun()
    const behind = new Date(Date.now() - 3_600_000).toISOString()
    const at = (event: RunEvent) => ({ ...event, at: behind })
    await send(run, 0, [at(started(0, 0, 0)), at(ended(0, 0, { started_at: behind }))])
    const { rows } = await db.database.query(
      `SELECT bool_and(least(s.started_at, s.attempt_started_at, s.completed_at, r.started_at, r.completed_at) >= l.acquired_at) AS after
         FROM steps s JOIN command_results r USING (deployment_id, target_index, action_index) JOIN leases l USING (deployment_id)
        WHERE deployment_id = $1`,
      [run.deploymentId],
    )
    expect(rows).toEqual([{ after: true }])
  })

  test('with a rollback keeps the exit code and error of the command and the count of failed steps', async () => {
    const run = await newRun({ targets: 1, actions: 1 })
    const at = '2026-01-31T09:00:04Z'
    await send(run, 0, [started(0, 0), ended(0, 0, { state: 'failed', exit_code: 3, error_message: 'exit code 3' })])
    await send(run, 2, [
      { type: 'rolling_back', at },
      { type: 'rollback_started', at, target: 0, action: 0 },
    ])
    await send(run, 4, [
      { type: 'rollback_ended', at, target: 0, action: 0, ok: true, error_message: null },
      { ...finished('rolled_back'), reason: 'command_failed' } as RunEvent,
    ])
    expect(await stepsOf(run)).toMatchObject([{ state: 'rolled_back', exit_code: 3, error_message: 'exit code 3' }])
    expect(await progressOf(run)).toMatchObject({ ended_steps: 1, completed_steps: 0, failed_steps: 1 })
    expect(await outboxOf(run)).toEqual([
      { type: 'run.rolling_back', body: { deployment_id: run.deploymentId, epoch: run.epoch } },
      {
        type: 'run.finished',
        body: {
          deployment_id: run.deploymentId,
          epoch: run.epoch,
          outcome: 'rolled_back',
          reason: 'command_failed',
          error_message: null,
        },
      },
    ])
  })

  test('with the end of a run publishes run.finished once, also if the batch is repeated', async () => {
    const run = await newRun()
    await send(run, 0, [finished('failed')])
    await send(run, 0, [finished('failed')])
    expect(await outboxOf(run)).toHaveLength(1)
    expect((await send(run, 1, [line(0)])).status).toBe(400)
  })

  test('pins the first host key of a target and ignores later ones', async () => {
    const run = await newRun()
    const key = (text: string): RunEvent => ({
      type: 'host_key',
      at: '2026-01-31T09:00:00Z',
      target: 1,
      host_key: text,
    })
    await send(run, 0, [key('ssh-ed25519 FIRST')])
    await send(run, 1, [key('ssh-ed25519 SECOND')])
    const { rows } = await db.database.query('SELECT * FROM target_facts WHERE target_id = ANY ($1)', [run.targetIds])
    expect(rows).toMatchObject([
      { target_id: run.targetIds[1], host_key: 'ssh-ed25519 FIRST', last_seen_at: expect.any(Date) },
    ])
  })

  test('stores why a target was not reached, but not why a command failed there', async () => {
    const run = await newRun()
    const failed = (target: number, reason: 'target_refused' | 'signal', error_message: string) =>
      ended(target, 0, { state: 'failed', exit_code: null, reason, error_message })
    await send(run, 0, [started(0, 0), started(1, 0)])
    await send(run, 2, [
      failed(0, 'signal', 'killed by SIGKILL'),
      failed(1, 'target_refused', 'connection refused by h:22'),
    ])
    const { rows } = await db.database.query('SELECT * FROM target_facts WHERE target_id = ANY ($1)', [run.targetIds])
    expect(rows).toMatchObject([
      {
        target_id: run.targetIds[1],
        last_seen_at: null,
        last_error: 'connection refused by h:22',
        failing_since: expect.any(Date),
      },
    ])
  })

  test('publishes target.updated when a target is reachable again, not each time that it is reached', async () => {
    const run = await newRun()
    const [local, remote] = run.targetIds
    await db.database.query(`UPDATE targets SET connection = '{"type":"ssh"}' WHERE id = $1`, [remote])
    const told = async () => {
      const { rows } = await db.database.query<{ body: object }>(
        `SELECT body FROM outbox WHERE type = 'target.updated' AND body ->> 'target_id' = ANY ($1)`,
        [[local, remote]],
      )
      return rows.map(({ body }) => body)
    }
    const event = { target_id: remote, tenant_id: null }
    const reached = (target: number): RunEvent => ({ type: 'target_seen', at: '2026-01-31T09:00:00Z', target })
    await send(run, 0, [reached(0), reached(1)])
    expect(await told()).toEqual([event])
    await send(run, 2, [reached(1)])
    expect(await told()).toEqual([event])
    await db.database.query(`UPDATE target_facts SET last_seen_at = now() - interval '91 s'`)
    await send(run, 3, [reached(1)])
    expect(await told()).toEqual([event, event])
  })

  const underLease = ({ deploymentId }: Awaited<ReturnType<typeof newRun>>) => ({
    deploymentId,
    leaseBegan: new Date(),
  })

  test.each([
    ['without statistics of the table', async () => {}],
    ['with statistics of the table', () => db.database.query('ANALYZE steps')],
  ])('reads only the steps that it changes, %s', async (_case, prepare) => {
    const run = await newRun({ targets: 50, actions: 20 })
    await prepare()
    const read = await db.as('executor-bridge').transaction(async (tx) => {
      const soFar = async () => {
        const { rows } = await tx.query<{ read: number }>(
          "SELECT seq_tup_read + idx_tup_fetch AS read FROM pg_stat_xact_user_tables WHERE relname = 'steps'",
          [],
        )
        return rows[0]?.read ?? Number.NaN
      }
      const before = await soFar()
      const { steps } = foldEvents([started(7, 3), started(8, 3), ended(8, 3)], { targets: 50, actions: 20 }, 0)
      await moveSteps(tx, underLease(run), steps, new Map())
      return (await soFar()) - before
    })
    // The releases of two targets begin. Each reads the 20 steps of its target. The deployment has 1,000 steps.
    expect(read).toBeLessThan(60)
  })

  test('changes no step that another transaction changes at the same time, even without the locks of the run', async () => {
    const run = await newRun()
    const { steps } = foldEvents([started(0, 0)], { targets: 2, actions: 2 }, 0)
    let moving: Promise<unknown> | undefined
    await db.database.transaction(async (tx) => {
      await tx.query(`UPDATE steps SET state = 'cancelled' WHERE deployment_id = $1`, [run.deploymentId])
      moving = moveSteps(db.as('executor-bridge'), underLease(run), steps, new Map()).catch((error) => error)
      const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      await waitFor(async () => ((await db.as('executor-bridge').query(waiting)).rowCount ?? 0) > 0, {
        what: 'the wait for the step',
      })
    })
    expect(await moving).toBeInstanceOf(IllegalEvent)
    expect(await stepsOf(run)).toMatchObject(Array(4).fill({ state: 'cancelled' }))
  })

  test('changes nothing in a step that has ended in another way', async () => {
    const run = await newRun()
    await db.database.query(`UPDATE steps SET state = 'cancelled' WHERE deployment_id = $1`, [run.deploymentId])
    expect((await send(run, 0, [started(0, 0), ended(0, 0)])).status).toBe(400)
    expect(await stepsOf(run)).toMatchObject([{ state: 'cancelled' }, {}, {}, {}])
    const { rows } = await db.database.query('SELECT FROM command_results WHERE deployment_id = $1', [run.deploymentId])
    expect(rows).toHaveLength(0)
  })
})

describe('the lease', () => {
  test('fences: events of another instance, another epoch or an ended lease are refused', async () => {
    const run = await newRun()
    const stranger = await joinInstance(one)
    const url = `${one.url}/v1/runs/${run.deploymentId}/events`
    const body = { epoch: run.epoch, first_event: 0, events: [started(0, 0)] }
    const refused = { status: 409, body: { error: { code: 'FENCED' } } }
    expect(await post(url, stranger.credential, body)).toMatchObject(refused)
    expect(await send(run, 0, [started(0, 0)], one, run.epoch + 1000)).toMatchObject(refused)
    await send(run, 0, [started(0, 0)])
    await endLease(db.database, run.epoch)
    expect(await send(run, 1, [ended(0, 0)])).toMatchObject(refused)
    expect((await stepsOf(run))[0]).toMatchObject({ state: 'running' })
  })

  test('of a later epoch begins with event 0, continues the line numbers and counts steps again', async () => {
    const run = await newRun()
    await send(run, 0, [started(0, 0), line(0), ended(0, 0), started(1, 0), line(1)])
    await endLease(db.database, run.epoch)
    await db.database.query(
      `UPDATE steps SET state = 'failed', ever_failed = true WHERE deployment_id = $1 AND state = 'running'`,
      [run.deploymentId],
    )
    slot += 1
    const epoch = await lease(db.database, { deploymentId: run.deploymentId, instanceId: instance.id, slot })
    expect((await send(run, 0, [line(2), started(0, 1)], one, epoch)).body).toEqual({ next_event: 2 })
    expect(await storedLines(run)).toEqual(['line 0', 'line 1', 'line 2'])
    expect(await progressOf(run)).toMatchObject({
      epoch,
      next_event: 2,
      ended_steps: 2,
      completed_steps: 1,
      failed_steps: 1,
    })
    expect(await send(run, 5, [line(2)])).toMatchObject({ status: 409 })
  })

  test('that ended with a cancel accepts only last output that is marked as such', async () => {
    const run = await newRun({ maxRetries: 3 })
    await send(run, 0, [started(0, 0), line(0)])
    await cancel(run)
    const before = await stepsOf(run)
    // Three events are too late: a further attempt, the end of the command, and the start of another step.
    const late = [started(0, 0, 1), line(1, 'bye'), ended(0, 0, { attempt: 1 }), started(1, 0), finished()]
    expect(await send(run, 2, late)).toMatchObject({ status: 409, body: { error: { code: 'FENCED' } } })
    expect(await sendAfterStop(run, 2, late)).toEqual({ status: 200, body: { next_event: 7 } })
    expect(await sendAfterStop(run, 2, late)).toEqual({ status: 200, body: { next_event: 7 } })
    expect(await sendAfterStop(run, 7, [line(2, 'bye bye')])).toEqual({ status: 200, body: { next_event: 8 } })
    expect(await storedLines(run)).toEqual(['line 0', 'bye', 'bye bye'])
    expect(await stepsOf(run)).toEqual(before)
    expect(await progressOf(run)).toMatchObject({ next_line: 3, finished_at: null })
    expect((await outboxOf(run)).map(({ type }) => type)).not.toContain('run.finished')
    expect(one.published.slice(-2)).toMatchObject([
      { first_line: 1, lines: [{ m: 'bye' }], steps: [] },
      { first_line: 2, lines: [{ m: 'bye bye' }] },
    ])
  })

  test.each([
    ['its instance has confirmed the end of its commands', `stopped_at = now()`],
    ['20 seconds', `ended_at = now() - interval '21 seconds'`],
    ['its instance was lost', `end_reason = 'lost'`],
    ['its run had finished', `end_reason = 'finished'`],
    ['it became live again (which never happens)', `ended_at = NULL, end_reason = NULL`],
  ])('accepts no last output after %s', async (_what, change) => {
    const run = await newRun()
    await send(run, 0, [started(0, 0), line(0)])
    await cancel(run)
    await db.database.query(`UPDATE leases SET ${change} WHERE epoch = $1`, [run.epoch])
    expect(await sendAfterStop(run, 2, [line(1)])).toMatchObject({ status: 409, body: { error: { code: 'FENCED' } } })
    expect(await storedLines(run)).toEqual(['line 0'])
  })

  test('that ended before the first event of its run accepts no last output', async () => {
    const run = await newRun()
    await cancel(run)
    expect(await sendAfterStop(run, 0, [started(0, 0), line(0)])).toMatchObject({ status: 409 })
    expect(await storedLines(run)).toEqual([])
  })

  test('needs a credential', async () => {
    const run = await newRun()
    const url = `${one.url}/v1/runs/${run.deploymentId}/events`
    const forged = `${instance.id}.${'A'.repeat(43)}`
    for (const token of [undefined, 'nonsense', forged]) {
      expect(await post(url, token, {})).toMatchObject({ status: 401, body: { error: { code: 'UNAUTHORIZED' } } })
    }
  })
})

test('two bridges that receive the same events at once, in batches of different sizes, apply each event once', async () => {
  const run = await newRun({ targets: 10, actions: 2 })
  const events: RunEvent[] = []
  let lines = 0
  for (let target = 0; target < 10; target += 1) {
    for (let action = 0; action < 2; action += 1) {
      events.push(started(target, action))
      for (let n = 0; n < 10; n += 1) events.push(line(lines++))
      events.push(ended(target, action))
    }
  }
  events.push(finished())
  const sendAll = async (bridge: TestBridge, size: number) => {
    for (let next = 0; next < events.length; ) {
      const { status, body } = await send(run, next, events.slice(next, next + size), bridge)
      expect(status).toBe(200)
      next = body.next_event
    }
  }
  await Promise.all([sendAll(one, 7), sendAll(other, 11), sendAll(one, 3), sendAll(other, 50)])

  expect(await storedLines(run)).toEqual(Array.from({ length: lines }, (_, n) => `line ${n}`))
  expect((await stepsOf(run)).every(({ state }) => state === 'completed')).toBe(true)
  expect(await progressOf(run)).toMatchObject({
    next_event: events.length,
    next_line: lines,
    ended_steps: 20,
    completed_steps: 20,
  })
  expect(await outboxOf(run)).toHaveLength(1)

  // Each event number was published to the stream clients exactly once.
  const told = [...one.published, ...other.published]
    .filter((batch) => batch.epoch === run.epoch)
    .sort((a, b) => a.first_event - b.first_event)
  let next = 0
  for (const batch of told) {
    expect(batch.first_event).toBe(next)
    next = batch.next_event
  }
  expect(next).toBe(events.length)
})

test('unfinished lines go to stream clients from the holder of the live lease alone, and are not stored', async () => {
  const run = await newRun()
  const at = '2026-01-31T00:00:00.000Z'
  const send = (epoch: number, target: number) =>
    post(`${one.url}/v1/runs/${run.deploymentId}/partial-lines`, instance.credential, {
      epoch,
      lines: [{ at, target, action: 0, stream: 'stderr', text: '50%', next_line: 7 }],
    })
  expect(await send(run.epoch, 1)).toMatchObject({ status: 200 })
  expect(one.publishedPartialLines).toEqual([{ t: Date.parse(at), i: 1, a: 0, s: 'e', l: 'error', m: '50%', n: 7 }])
  expect(await send(run.epoch, 2)).toMatchObject({ status: 400 })
  await endLease(db.database, run.epoch)
  expect(await send(run.epoch, 1)).toMatchObject({ status: 409, body: { error: { code: 'FENCED' } } })
  expect(one.publishedPartialLines).toHaveLength(1)
  const { rows } = await db.database.query('SELECT FROM log_chunks WHERE deployment_id = $1', [run.deploymentId])
  expect(rows).toEqual([])
})
