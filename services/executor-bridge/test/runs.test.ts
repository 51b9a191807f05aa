import { Writable } from 'node:stream'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { type Broker, MAX_ATTEMPTS } from '@slipway/broker'
import { compile, RunSpec, streamKey } from '@slipway/contracts'
import { commandMessage, enqueue, startRelay } from '@slipway/database'
import { createLogger, uuidv7 } from '@slipway/runtime'
import {
  testLogger as logger,
  type OpenTestDatabase,
  openTestBroker,
  openTestDatabase,
  removeNamespace,
  serverUrl,
  testNamespace,
} from '@slipway/testing'
import { Redis } from 'ioredis'
import { createLiveStreams } from '../src/events/live-streams.ts'
import { createHandover } from '../src/runs/handover.ts'
import { line, started } from './events.ts'
import { type FakeInstance, startInstance, until } from './fake-instance.ts'
import {
  type Enrolled,
  endLease,
  enrolInstance,
  keys,
  lease,
  post,
  type RunOptions,
  type SeededRun,
  seedRun,
  startBridge,
  type TestBridge,
} from './setup.ts'

let db: OpenTestDatabase
let bridge: TestBridge
let far: FakeInstance
let instance: Enrolled
let slot = 0

beforeAll(async () => {
  db = await openTestDatabase()
  bridge = await startBridge(db.database)
  far = await startInstance()
  instance = await enrolInstance(bridge, { name: 'far', base_url: `${far.url}/`, capacity: 100 })
})

beforeEach(() => {
  far.calls.length = 0
  far.answer = { status: 202 }
  far.before = () => {}
})

afterAll(async () => {
  await bridge?.close()
  await far?.close()
  await db?.drop()
})

const newRun = (options: Partial<RunOptions> = {}) => {
  slot += 1
  return seedRun(db.database, { instanceId: instance.id, slot, ...options })
}

const command = (type: 'run.start' | 'run.stop', body: unknown, attempt = 1, handover = bridge.handover) =>
  handover.handle(
    { message_id: uuidv7(), type, request_id: null, timestamp: new Date().toISOString(), body },
    { attempt, redelivered: false },
  )

const start = (run: SeededRun, attempt = 1) =>
  command('run.start', { deployment_id: run.deploymentId, epoch: run.epoch }, attempt)

const endOf = async (run: SeededRun) =>
  (
    await db.database.query<{ body: unknown }>(
      `SELECT body FROM outbox WHERE type = 'run.finished' AND body->>'deployment_id' = $1`,
      [run.deploymentId],
    )
  ).rows.map(({ body }) => body)

describe('run.start', () => {
  test('hands over a spec that fits the contract, with the callback token', async () => {
    const run = await newRun({ targets: 2, actions: 2 })
    await start(run)
    expect(far.calls).toHaveLength(1)
    const [call] = far.calls
    expect(call).toMatchObject({ path: '/v1/runs', authorization: `Bearer ${'c'.repeat(40)}` })
    expect(compile(RunSpec)(call?.body)).toEqual([])
    expect(call?.body).toMatchObject({
      deployment_id: run.deploymentId,
      epoch: run.epoch,
      remaining_seconds: null,
      phase: 'running',
      steps: [],
      first_line: 0,
      actions: [{ script: 'echo hello', rollback_script: 'echo back', interpreter: 'sh', env: { A: '1' } }, {}],
      targets: run.targetIds.map((id) => ({ id, connection: { type: 'local' } })),
    })
  })

  test('opens sealed values and connection secrets, pins the learned host key, and logs none of it', async () => {
    const run = await newRun({ targets: 1, actions: 1 })
    const [targetId] = run.targetIds as [string]
    const sealed = (value: unknown) => ({
      $sealed: keys.seal(JSON.stringify(value), `plan:${run.deploymentId}:password`),
    })
    const secrets = keys.seal(JSON.stringify({ private_key: 'KEY-PLANTED' }), `target:${targetId}:connection`)
    await db.database.query(
      `UPDATE deployments SET plan_head = plan_head || $2, deadline_at = now() + interval '1 hour' WHERE id = $1`,
      [
        run.deploymentId,
        JSON.stringify({ sensitive: ['password'], override_variables: { password: sealed('OVERRIDE-PLANTED') } }),
      ],
    )
    await db.database.query('UPDATE deployment_targets SET variables = $2 WHERE deployment_id = $1', [
      run.deploymentId,
      JSON.stringify({ password: sealed({ nested: 'TARGET-PLANTED' }), port: 8080 }),
    ])
    await db.database.query('UPDATE targets SET connection = $2, connection_secrets = $3 WHERE id = $1', [
      targetId,
      JSON.stringify({ type: 'ssh', host: 'db1', username: 'deploy' }),
      secrets,
    ])
    await db.database.query(`INSERT INTO target_facts (target_id, host_key) VALUES ($1, 'ssh-ed25519 AAAA')`, [
      targetId,
    ])
    let written = ''
    const stream = new Writable({
      write(chunk, _encoding, done) {
        written += String(chunk)
        done()
      },
    })
    const loud = { ...bridge.bridge, logger: createLogger({ service: 'test', level: 'debug', stream }) }
    const body = { deployment_id: run.deploymentId, epoch: run.epoch }
    await command('run.start', body, 1, createHandover(loud))
    far.answer = { status: 500 }
    await expect(command('run.start', body, 1, createHandover(loud))).rejects.toThrow(/500/)

    expect(far.calls[0]?.body).toMatchObject({
      override_variables: { password: 'OVERRIDE-PLANTED' },
      sensitive: ['password'],
      targets: [
        {
          variables: { password: { nested: 'TARGET-PLANTED' }, port: 8080 },
          connection: {
            type: 'ssh',
            host: 'db1',
            port: 22,
            username: 'deploy',
            private_key: 'KEY-PLANTED',
            host_key: 'ssh-ed25519 AAAA',
          },
        },
      ],
    })
    expect(far.calls[0]?.body.remaining_seconds).toBeGreaterThan(3_000)
    expect(written).toContain('handed over')
    expect(written).not.toContain('PLANTED')
  })

  test('hands over many at once, each with what is its own, and passes over those whose lease has ended', async () => {
    const runs = [await newRun({ targets: 3 }), await newRun({ actions: 2 }), await newRun(), await newRun()]
    const [, , ended, later] = runs as [SeededRun, SeededRun, SeededRun, SeededRun]
    await endLease(db.database, ended.epoch)
    await db.database.query(`UPDATE steps SET state = 'failed', ever_failed = true WHERE deployment_id = $1`, [
      later.deploymentId,
    ])
    const stale = { deployment_id: later.deploymentId, epoch: later.epoch - 1_000 }
    // The same twice: of two messages, or of one and a heartbeat.
    await Promise.all([...runs, ...runs].map((run) => start(run)).concat(command('run.start', stale)))
    const specs = far.calls.map(({ body }) => body)
    expect(
      specs.filter((spec, index) => specs.findIndex((s) => s.deployment_id === spec.deployment_id) === index),
    ).toHaveLength(3)
    for (const run of runs.filter((one) => one !== ended)) {
      const spec = specs.find(({ deployment_id }) => deployment_id === run.deploymentId)
      expect(spec).toMatchObject({ epoch: run.epoch, targets: run.targetIds.map((id) => ({ id })) })
    }
    const steps = specs.find(({ deployment_id }) => deployment_id === later.deploymentId).steps
    expect(steps.map(({ state }: { state: string }) => state)).toContain('failed')
    const { rows } = await db.database.query(
      'SELECT epoch, failed_steps > 0 AS failed FROM run_progress WHERE deployment_id = ANY($1::uuid[]) ORDER BY epoch',
      [runs.map(({ deploymentId }) => deploymentId)],
    )
    expect(rows).toEqual(
      runs.filter((run) => run !== ended).map((run) => ({ epoch: run.epoch, failed: run === later })),
    )
  })

  test('does nothing without a live lease of that epoch', async () => {
    const run = await newRun()
    await endLease(db.database, run.epoch)
    await start(run)
    expect(far.calls).toEqual([])
  })

  test('does nothing when events show that the instance has the run', async () => {
    const run = await newRun()
    await post(`${bridge.url}/v1/runs/${run.deploymentId}/events`, instance.credential, {
      epoch: run.epoch,
      first_event: 0,
      events: [started(0, 0)],
    })
    await start(run)
    expect(far.calls).toEqual([])
  })

  test('stops the run again when its lease ended while it was handed over', async () => {
    const run = await newRun()
    far.before = () => endLease(db.database, run.epoch)
    await start(run)
    expect(far.calls.map(({ path }) => path)).toEqual(['/v1/runs', `/v1/runs/${run.deploymentId}/stop`])
  })

  test('throws while the instance cannot take it, and leaves it to heartbeats in the end', async () => {
    const run = await newRun()
    far.answer = { status: 503 }
    await expect(start(run)).rejects.toThrow(/503/)
    await start(run, MAX_ATTEMPTS)
    expect(await endOf(run)).toEqual([])
  })

  test('accepts that the instance has a newer epoch', async () => {
    const run = await newRun()
    far.answer = { status: 409 }
    await start(run)
    expect(await endOf(run)).toEqual([])
  })

  test.each<[string, RegExp, (run: SeededRun) => Promise<unknown>]>([
    [
      'whose action is gone',
      /action "release 0" no longer exists/,
      (run) =>
        db.database.query(
          'DELETE FROM source_versions v USING deployment_actions a WHERE a.deployment_id = $1 AND v.source_id = a.action_id',
          [run.deploymentId],
        ),
    ],
    [
      'whose target is gone',
      /Target "target 0" no longer exists/,
      (run) => db.database.query('DELETE FROM targets WHERE id = ANY ($1)', [run.targetIds]),
    ],
    [
      'with a secret under a key that is missing',
      /Encryption key elsewhere is missing/,
      (run) =>
        db.database.query('UPDATE deployment_targets SET variables = $2 WHERE deployment_id = $1', [
          run.deploymentId,
          JSON.stringify({ password: { $sealed: `v1.elsewhere.${Buffer.alloc(200).toString('base64url')}` } }),
        ]),
    ],
    [
      'that the instance refuses for good',
      /refused the run: too many targets/,
      async () => {
        far.answer = { status: 400, body: { error: { message: 'too many targets' } } }
      },
    ],
  ])('ends a run %s as failed, with the reason', async (_what, reason, spoil) => {
    const run = await newRun()
    await spoil(run)
    await start(run)
    expect(await endOf(run)).toEqual([
      {
        deployment_id: run.deploymentId,
        epoch: run.epoch,
        outcome: 'failed',
        error_message: expect.stringMatching(reason),
      },
    ])
    await start(run)
    expect(await endOf(run)).toHaveLength(1)
  })

  test('of a later epoch tells what has ended, and goes on with the lines', async () => {
    const run = await newRun({ targets: 2, actions: 2 })
    await post(`${bridge.url}/v1/runs/${run.deploymentId}/events`, instance.credential, {
      epoch: run.epoch,
      first_event: 0,
      events: [line(0), line(1)],
    })
    await db.database.query(
      `UPDATE steps SET state = v.state::step_state, retry_count = v.retries, ever_failed = v.failed
       FROM (VALUES (0, 0, 'completed', 0, false), (0, 1, 'rolling_back', 0, true), (1, 0, 'pending', 2, false))
         AS v (t, a, state, retries, failed)
       WHERE deployment_id = $1 AND target_index = v.t AND action_index = v.a`,
      [run.deploymentId],
    )
    await endLease(db.database, run.epoch)
    slot += 1
    const epoch = await lease(db.database, { deploymentId: run.deploymentId, instanceId: instance.id, slot })
    await start({ ...run, epoch })
    expect(far.calls[0]?.body).toMatchObject({
      epoch,
      first_line: 2,
      phase: 'rolling_back',
      steps: [
        { target: 0, action: 0, state: 'completed', retry_count: 0 },
        { target: 0, action: 1, state: 'failed', retry_count: 0 },
        { target: 1, action: 0, state: 'pending', retry_count: 2 },
      ],
    })
  })
})

test('run.stop tells the instance; one that does not know the run is fine', async () => {
  const run = await newRun()
  const body = { deployment_id: run.deploymentId, epoch: run.epoch, instance_id: instance.id, reason: 'cancelled' }
  await command('run.stop', body)
  far.answer = { status: 404 }
  await command('run.stop', body)
  expect(far.calls).toMatchObject([
    { path: `/v1/runs/${run.deploymentId}/stop`, body: { epoch: run.epoch, reason: 'cancelled' } },
    {},
  ])
  far.answer = { status: 500 }
  await expect(command('run.stop', body)).rejects.toThrow(/500/)
})

test('run.stop follows the kill up, without waiting, and tells the dispatcher what it came to', async () => {
  const toldOf = async (run: SeededRun) =>
    (
      await db.database.query<{ body: unknown }>(
        `SELECT body FROM outbox WHERE type = 'run.stopped' AND body->>'deployment_id' = $1`,
        [run.deploymentId],
      )
    ).rows.map(({ body }) => body)
  for (const [answer, told] of [
    [{ stopped: true, unconfirmed: [[1, 0]] }, [[1, 0]]],
    [{ stopped: true, unconfirmed: [] }, []],
    [{ stopped: false, unconfirmed: null }, null],
    [{ nonsense: true }, null],
  ]) {
    const run = await newRun()
    far.answer = { status: 202, body: answer }
    const ref = { deployment_id: run.deploymentId, epoch: run.epoch }
    await command('run.stop', { ...ref, instance_id: instance.id, reason: 'cancelled' })
    await bridge.handover.settled()
    expect(await toldOf(run)).toEqual(told === null ? [] : [{ ...ref, unconfirmed: told }])
  }
})

test('a heartbeat that misses a run that never came has it sent again', async () => {
  const own = await enrolInstance(bridge, { name: 'forgetful', base_url: far.url })
  const run = await seedRun(db.database, { instanceId: own.id })
  const beat = () =>
    post(`${bridge.url}/v1/instances/${own.id}/heartbeat`, own.credential, { version: '0.1.0', runs: [] })
  await beat()
  await db.database.query(`UPDATE leases SET acquired_at = now() - interval '4 seconds' WHERE epoch = $1`, [run.epoch])
  await db.database.query(`UPDATE instances SET enrolled_at = now() - interval '1 minute' WHERE id = $1`, [own.id])
  await beat()
  await until(() => far.calls.length > 0, 'the run')
  // The young lease of the first heartbeat was left alone.
  expect(far.calls).toMatchObject([{ path: '/v1/runs', body: { deployment_id: run.deploymentId } }])
})

describe('over RabbitMQ and Redis', () => {
  const namespace = testNamespace()
  let broker: Broker
  let redis: Redis

  beforeAll(async () => {
    broker = await openTestBroker(namespace, 'executor-bridge')
    redis = new Redis(serverUrl('REDIS_URL'))
  })

  afterAll(async () => {
    await broker?.close()
    await removeNamespace(namespace)
    redis?.disconnect()
  })

  test('a command that was committed with its lease reaches the instance', async () => {
    const run = await newRun()
    await db.database.query('DELETE FROM outbox')
    await enqueue(db.database, [commandMessage('run.start', { deployment_id: run.deploymentId, epoch: run.epoch })])
    await broker.consume('executor.commands', { prefetch: 4, handle: bridge.handover.handle })
    const relay = startRelay({ database: db.database, publish: (messages) => broker.publish(messages), logger })
    await until(() => far.calls.length > 0, 'the run')
    await relay.stop()
    expect(far.calls).toMatchObject([{ body: { deployment_id: run.deploymentId } }])
  })

  test('a committed batch is told to watchers, and Redis being away fails no batch', async () => {
    const live = createLiveStreams(redis, namespace, logger)
    const watched = await startBridge(db.database, live)
    const run = await newRun()
    const url = `${watched.url}/v1/runs/${run.deploymentId}/events`
    const send = (firstEvent: number) =>
      post(url, instance.credential, { epoch: run.epoch, first_event: firstEvent, events: [line(firstEvent)] })
    expect((await send(0)).status).toBe(200)
    const key = streamKey(namespace, run.deploymentId)
    const entries = await redis.xrange(key, '-', '+')
    expect(entries.map(([, fields]) => JSON.parse(String(fields[1])))).toMatchObject([
      {
        epoch: run.epoch,
        first_event: 0,
        next_event: 1,
        first_line: 0,
        lines: [{ m: 'line 0', s: 'o' }],
        total_steps: 4,
      },
    ])
    expect(await redis.ttl(key)).toBeGreaterThan(0)
    await redis.del(key)

    const silent = createLogger({ service: 'test', stream: new Writable({ write: (_c, _e, done) => done() }) })
    const dead = new Redis('redis://127.0.0.1:1', { lazyConnect: true, enableOfflineQueue: false, retryStrategy: null })
    dead.on('error', () => {})
    const cut = await startBridge(db.database, createLiveStreams(dead, namespace, silent))
    const answer = await post(`${cut.url}/v1/runs/${run.deploymentId}/events`, instance.credential, {
      epoch: run.epoch,
      first_event: 1,
      events: [line(1)],
    })
    expect(answer).toEqual({ status: 200, body: { next_event: 2 } })
    await Promise.all([watched.close(), cut.close()])
    dead.disconnect()
  })
})
