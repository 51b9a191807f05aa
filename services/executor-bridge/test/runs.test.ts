import { Writable } from 'node:stream'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { Broker } from '@slipway/broker'
import { compile, RunSpec, type RunTarget, SyncResponse } from '@slipway/contracts'
import { enqueue, eventMessage, startRelay } from '@slipway/database'
import { listen } from '@slipway/http'
import { createLogger } from '@slipway/runtime'
import { streamKey } from '@slipway/runtime/redis'
import {
  testLogger as logger,
  type OpenTestDatabase,
  openTestBroker,
  openTestDatabase,
  redisUrlOf,
  removeNamespace,
  serverUrl,
  testNamespace,
  waitFor,
} from '@slipway/testing'
import { Redis } from 'ioredis'
import { createApp } from '../src/http/app.ts'
import { wakeOnEvents } from '../src/instances/wake-on-events.ts'
import { createLiveStreams } from '../src/live-streams.ts'
import { line, started } from './events.ts'
import {
  endLease,
  type Joined,
  joinInstance,
  keys,
  lease,
  post,
  postSync,
  type RunOptions,
  type SeededRun,
  seedRun,
  startBridge,
  type TestBridge,
} from './setup.ts'

let db: OpenTestDatabase
let bridge: TestBridge
let instance: Joined
let slot = 0

beforeAll(async () => {
  db = await openTestDatabase()
  bridge = await startBridge(db.database)
})

beforeEach(async () => {
  instance = await joinInstance(bridge, { capacity: 100 })
  slot = 0
})

afterAll(async () => {
  await bridge?.close()
  await db?.drop()
})

const newRun = (options: Partial<RunOptions> = {}) => {
  slot += 1
  return seedRun(db.database, { instanceId: instance.id, slot, ...options })
}

const refOf = ({ deploymentId, epoch }: SeededRun) => ({ deployment_id: deploymentId, epoch })

/** The runs to start in the answer to a sync. */
const starts = async (at: Pick<TestBridge, 'url'> = bridge) => {
  const { status, body } = await postSync(at, instance, { capacity: 100 })
  expect([status, compile(SyncResponse)(body)]).toEqual([200, []])
  return body.start
}

/** The specification of the only run of the instance. */
const start = async (at?: Pick<TestBridge, 'url'>) => (await starts(at))[0]?.spec

test('a run that another session has locked is left out, and the others start', async () => {
  const [locked, free] = [await newRun(), await newRun()]
  await db.database.transaction(async (tx) => {
    await tx.query('INSERT INTO run_progress (deployment_id, epoch) VALUES ($1, $2)', [
      locked.deploymentId,
      locked.epoch,
    ])
    expect(await starts()).toMatchObject([refOf(free)])
  })
  expect(await starts()).toMatchObject([refOf(locked), refOf(free)])
})

const endOf = async (run: SeededRun) =>
  (
    await db.database.query<{ body: unknown }>(
      `SELECT body FROM outbox WHERE type = 'run.finished' AND body->>'deployment_id' = $1`,
      [run.deploymentId],
    )
  ).rows.map(({ body }) => body)

describe('a run to start', () => {
  test('of a check has the check scripts of the actions in place of their scripts', async () => {
    const run = await newRun({ targets: 1, actions: 1 })
    const { rows } = await db.database.query<{ action_id: string }>(
      `UPDATE deployments SET is_check = true WHERE id = $1 RETURNING source_id AS action_id`,
      [run.deploymentId],
    )
    const declare = (check: object | undefined) =>
      db.database.query('UPDATE source_versions SET definition = $2 WHERE source_id = $1', [
        rows[0]?.action_id,
        { type: 'script', script: 'rm -rf /', rollback: { script: 'undo' }, interpreter: 'bash', check },
      ])
    await declare({ script: 'look' })
    const spec = await start()
    expect(compile(RunSpec)(spec)).toEqual([])
    expect(spec).toMatchObject({ actions: [{ script: 'look', rollback_script: null, interpreter: 'bash' }] })
    await declare({ script: 'look', interpreter: 'python3' })
    expect(await start()).toMatchObject({ actions: [{ interpreter: 'python3' }] })
    // Without a check script, the run fails. It never gets the script of the action.
    await declare(undefined)
    expect(await start()).toBeUndefined()
    expect(await endOf(run)).toMatchObject([{ outcome: 'failed', reason: 'not_started' }])
  })

  test('has a specification that matches the contract', async () => {
    const run = await newRun({ targets: 2, actions: 2 })
    const spec = await start()
    expect(compile(RunSpec)(spec)).toEqual([])
    expect(spec).toMatchObject({
      deployment_id: run.deploymentId,
      epoch: run.epoch,
      remaining_seconds: null,
      phase: 'running',
      steps: [],
      first_line: 0,
      source: { name: 'release', version: '1.0.0' },
      actions: [{ script: 'echo hello', rollback_script: 'echo back', interpreter: 'sh', env: { A: '1' } }, {}],
      targets: run.targetIds.map((id) => ({ id, connection: { type: 'local' } })),
    })
  })

  test('names the environment of the deployment, or else that of each target', async () => {
    const run = await newRun({ targets: 2, actions: 1 })
    await db.database.query(`INSERT INTO environments (id, name) VALUES (gen_random_uuid(), $1)`, [run.deploymentId])
    await db.database.query(
      `UPDATE targets SET environment_id = (SELECT id FROM environments WHERE name = $1) WHERE id = $2`,
      [run.deploymentId, run.targetIds[0]],
    )
    const environments = async () => (await start())?.targets.map((target: RunTarget) => target.environment)
    expect(await environments()).toEqual([run.deploymentId, null])
    const named = JSON.stringify({ id: run.deploymentId, name: 'Named' })
    await db.database.query(
      `UPDATE deployments SET plan_head = jsonb_set(plan_head, '{environment}', $2) WHERE id = $1`,
      [run.deploymentId, named],
    )
    expect(await environments()).toEqual(['Named', 'Named'])
  })

  test('is repeated in each sync until the instance reports it', async () => {
    const run = await newRun()
    expect(await starts()).toHaveLength(1)
    expect(await starts()).toHaveLength(1)
    const { body } = await postSync(bridge, instance, { runs: [{ ...refOf(run), next_event: 0 }] })
    expect(body).toMatchObject({ start: [], stop: [] })
  })

  test('with many steps is fetched by a separate call, only by the instance that holds the lease', async () => {
    const run = await newRun({ targets: 60, actions: 2 })
    expect(await starts()).toEqual([{ ...refOf(run), spec: null }])
    const url = `${bridge.url}/v1/runs/${run.deploymentId}/spec?epoch=`
    const get = async (epoch: number | string, credential: string) => {
      const response = await fetch(`${url}${epoch}`, { headers: { authorization: `Bearer ${credential}` } })
      // biome-ignore lint/suspicious/noExplicitAny: bodies are looked into field by field
      return { status: response.status, body: (await response.json()) as any }
    }
    const { status, body } = await get(run.epoch, instance.credential)
    expect([status, compile(RunSpec)(body), body.targets.length]).toEqual([200, [], 60])
    const other = await joinInstance(bridge)
    expect((await get(run.epoch, other.credential)).status).toBe(404)
    for (const epoch of [run.epoch + 1, 'x', '']) expect((await get(epoch, instance.credential)).status).toBe(404)
    expect((await get(run.epoch, 'nobody')).status).toBe(401)
  })

  test('has opened secrets and the pinned host key, and the bridge logs none of them', async () => {
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
    const place = { port: 0, host: '127.0.0.1', variable: 'none' }
    const server = await listen(createApp(loud, new AbortController().signal), place)
    const spec = await start({ url: `http://127.0.0.1:${server.port}` })
    await server.close()

    expect(spec).toMatchObject({
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
    expect(spec.remaining_seconds).toBeGreaterThan(3_000)
    expect(written).toContain('a run is sent to its instance')
    expect(written).not.toContain('PLANTED')
  })

  test('comes with other runs, each with its own data, and without runs of ended leases', async () => {
    const runs = [await newRun({ targets: 3 }), await newRun({ actions: 2 }), await newRun(), await newRun()]
    const [, , ended, later] = runs as [SeededRun, SeededRun, SeededRun, SeededRun]
    await endLease(db.database, ended.epoch)
    await db.database.query(`UPDATE steps SET state = 'failed', ever_failed = true WHERE deployment_id = $1`, [
      later.deploymentId,
    ])
    const given = await starts()
    const kept = runs.filter((run) => run !== ended)
    expect(given).toHaveLength(3)
    for (const run of kept) {
      const { spec } = given.find(({ epoch }: { epoch: number }) => epoch === run.epoch)
      expect(spec).toMatchObject({ ...refOf(run), targets: run.targetIds.map((id) => ({ id })) })
      const states = spec.steps.map(({ state }: { state: string }) => state)
      expect(states.includes('failed')).toBe(run === later)
    }
    const { rows } = await db.database.query(
      'SELECT epoch, failed_steps > 0 AS failed FROM run_progress WHERE deployment_id = ANY($1::uuid[]) ORDER BY epoch',
      [runs.map(({ deploymentId }) => deploymentId)],
    )
    expect(rows).toEqual(kept.map((run) => ({ epoch: run.epoch, failed: run === later })))
  })

  test('that cannot be sent now does not stop the start of other runs', async () => {
    const [bad, good] = [await newRun(), await newRun()]
    await db.database.query(`UPDATE steps SET state = 'running' WHERE deployment_id = $1`, [bad.deploymentId])
    expect((await starts()).map(({ epoch }: { epoch: number }) => epoch)).toEqual([good.epoch])
    expect(await endOf(bad)).toEqual([])
    await db.database.query(`UPDATE steps SET state = 'pending' WHERE deployment_id = $1`, [bad.deploymentId])
    expect(await starts()).toHaveLength(2)
  })

  test.each<[string, RegExp, (run: SeededRun) => Promise<unknown>]>([
    [
      'whose action was deleted',
      /action "release 0" no longer exists/,
      (run) =>
        db.database.query(
          'DELETE FROM source_versions v USING deployment_actions a WHERE a.deployment_id = $1 AND v.source_id = a.action_id',
          [run.deploymentId],
        ),
    ],
    [
      'whose target was deleted',
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
  ])('%s ends as failed, with the reason', async (_what, reason, spoil) => {
    const run = await newRun()
    await spoil(run)
    expect(await starts()).toEqual([])
    expect(await endOf(run)).toEqual([
      {
        deployment_id: run.deploymentId,
        epoch: run.epoch,
        outcome: 'failed',
        reason: 'not_started',
        error_message: expect.stringMatching(reason),
      },
    ])
    await starts()
    expect(await endOf(run)).toHaveLength(1)
  })

  test('that its instance refuses ends as failed with the reason; refusals of other instances are ignored', async () => {
    const run = await newRun()
    const other = await joinInstance(bridge)
    const refused = [{ ...refOf(run), reason: 'too many targets' }]
    await postSync(bridge, other, { refused })
    expect(await endOf(run)).toEqual([])
    await postSync(bridge, instance, { refused })
    await postSync(bridge, instance, { refused })
    const error_message = 'The instance refused the run: too many targets'
    expect(await endOf(run)).toEqual([{ ...refOf(run), outcome: 'failed', reason: 'not_started', error_message }])
  })

  test('that its instance declines goes to another one, unless it has begun', async () => {
    const [run, begun] = [await newRun(), await newRun()]
    await post(`${bridge.url}/v1/runs/${begun.deploymentId}/events`, instance.credential, {
      epoch: begun.epoch,
      first_event: 0,
      events: [started(0, 0)],
    })
    const held = [{ ...refOf(begun), next_event: 1 }]
    await postSync(bridge, instance, { runs: held, declined: [refOf(run), refOf(begun)] })
    const { rows } = await db.database.query(`SELECT body FROM outbox WHERE type = 'run.declined'`)
    expect(rows.map(({ body }) => body)).toEqual([refOf(run)])
  })

  test('of a later epoch has the states of ended steps and the next line number', async () => {
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
    expect(await start()).toMatchObject({
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

test('run.stopped is published only if the lease is of the reporting instance and has ended', async () => {
  const [ended, live] = [await newRun(), await newRun()]
  await endLease(db.database, ended.epoch)
  const other = await joinInstance(bridge)
  const stopped = [ended, live].map((run) => ({ ...refOf(run), unconfirmed: [[1, 0]] as [number, number][] }))
  await postSync(bridge, other, { stopped })
  await postSync(bridge, instance, { stopped })
  const { rows } = await db.database.query(`SELECT body FROM outbox WHERE type = 'run.stopped'`)
  expect(rows.map(({ body }) => body)).toEqual([{ ...refOf(ended), unconfirmed: [[1, 0]] }])
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

  test('a waiting sync ends as soon as its instance has a new lease', async () => {
    await wakeOnEvents(broker, bridge.bridge.wakeUps)
    const relay = startRelay({
      database: db.as('executor-bridge'),
      publish: (messages) => broker.publish(messages),
      logger,
    })
    const waiting = postSync(bridge, instance, { wait_seconds: 25 })
    await waitFor(() => bridge.bridge.wakeUps.size > 0, { what: 'a waiting sync' })
    const run = await newRun()
    await enqueue(db.as('executor-bridge'), [eventMessage('lease.changed', { instance_id: instance.id })])
    relay.kick()
    const { body } = await waiting
    await relay.stop()
    expect(body.start).toMatchObject([refOf(run)])
  })

  test('a committed batch is published to stream clients, and no batch fails while Redis is away', async () => {
    const ofBridge = new Redis(redisUrlOf('executor-bridge'))
    const live = createLiveStreams(ofBridge, namespace, logger)
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
    ofBridge.disconnect()
  })
})
