import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { stepId } from '@slipway/domain'
import { type OpenTestDatabase, openTestDatabase } from '@slipway/testing'
import { numbered, TestDeployment } from './deployment.ts'
import { missedBatches } from './metrics.ts'
import { startStreams, type TestStreams, until } from './setup.ts'
import { SseClient } from './sse.ts'

let db: OpenTestDatabase
let streams: TestStreams
const open: SseClient[] = []

beforeAll(async () => {
  db = await openTestDatabase()
  streams = await startStreams({ database: db.database })
})

afterAll(async () => {
  for (const client of open) client.close()
  await streams?.close()
  await db?.drop()
})

async function watch(deployment: TestDeployment, query = ''): Promise<SseClient> {
  const client = await SseClient.open(streams, deployment.id, await streams.token(), query)
  open.push(client)
  return client
}

const apply = (deployment: TestDeployment, input: Parameters<TestDeployment['commit']>[0]) =>
  deployment.apply(streams.redis, streams.namespace, input)

const sequence = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n)

describe('a stream', () => {
  test('begins with the history in order if it opens late, and continues live', async () => {
    const deployment = await TestDeployment.create(db.database)
    const [first] = deployment.targets
    await apply(deployment, { lines: ['one', 'two'], steps: [[0, 0, 'running']] })
    await apply(deployment, {
      steps: [
        [0, 0, 'completed', 'two\n'],
        [0, 1, 'running'],
      ],
    })
    const client = await watch(deployment)
    await until(() => client.lines.length === 2, 'the lines')
    expect(client.messages).toEqual([
      { event: 'ping', data: { type: 'ping' } },
      {
        event: 'state_change',
        data: {
          type: 'state_change',
          deployment_id: deployment.id,
          old_state: '',
          new_state: 'running',
          message: 'Now running',
        },
      },
      {
        event: 'step_update',
        data: {
          type: 'step_update',
          step_id: stepId(deployment.id, 0, 0),
          action_version: '1.0.0',
          state: 'completed',
          exit_code: 0,
          error_message: null,
          output: 'two\n',
        },
      },
      {
        event: 'step_update',
        data: expect.objectContaining({ step_id: stepId(deployment.id, 0, 1), state: 'running', output: null }),
      },
      {
        event: 'progress',
        data: {
          type: 'progress',
          deployment_id: deployment.id,
          progress: 0.25,
          completed_steps: 1,
          total_steps: 4,
          message: '1 of 4 steps are complete',
        },
      },
      {
        event: 'log',
        data: {
          type: 'log',
          log: {
            timestamp: '2026-01-31T00:00:00.000Z',
            level: 'info',
            step_id: stepId(deployment.id, 0, 0),
            target_id: first?.id,
            target_name: 'target 0',
            message: 'one',
            metadata: { seq: 0 },
          },
        },
      },
      { event: 'log', data: expect.objectContaining({ log: expect.objectContaining({ message: 'two' }) }) },
    ])

    await apply(deployment, {
      lines: ['three'],
      steps: [
        [0, 1, 'failed', 'oh no\n'],
        [1, 0, 'running'],
      ],
    })
    await until(() => client.all('progress').length === 2, 'progress')
    expect(client.messages.slice(7).map(({ event }) => event)).toEqual([
      'step_update',
      'log',
      'step_update',
      'progress',
    ])
    expect(client.all('step_update').slice(2)).toMatchObject([
      { step_id: stepId(deployment.id, 1, 0), state: 'running', output: null },
      {
        step_id: stepId(deployment.id, 0, 1),
        state: 'failed',
        exit_code: 3,
        error_message: 'exit code 3',
        output: 'oh no\n',
      },
    ])
    // A batch that is not in Redis is read from the database.
    await deployment.commit({ steps: [[1, 0, 'completed', 'lost on the way\n']] })
    await until(() => client.all('step_update').length === 5, 'the step of which Redis did not tell')
    expect(client.all('step_update')[4]).toMatchObject({ state: 'completed', output: 'lost on the way\n' })
    expect(client.numbers).toEqual([0, 1, 2])
  })

  test('has unfinished lines without a number, unless the line or its command has ended', async () => {
    const deployment = await TestDeployment.create(db.database)
    const client = await watch(deployment)
    const show = (text: string, next: number) =>
      deployment.publishPartialLine(streams.redis, streams.namespace, text, next)
    await show('before the start', 0)
    await apply(deployment, { lines: ['one'], steps: [[0, 0, 'running']] })
    await until(() => client.lines.length === 1, 'the first line')
    await show('50%', 1)
    await apply(deployment, { lines: ['100%'] })
    await show('late', 1)
    await show('next', 2)
    await apply(deployment, { steps: [[0, 0, 'completed']] })
    await show('late', 2)
    await apply(deployment, { lines: ['last'] })
    await until(() => client.lines.at(-1) === 'last', 'the lines')
    expect(client.all('log').map(({ log }) => [log.message, log.metadata])).toEqual([
      ['one', { seq: 0 }],
      ['50%', { partial: true }],
      ['100%', { seq: 1 }],
      ['next', { partial: true }],
      ['last', { seq: 2 }],
    ])
  })

  test('ends with the last steps, progress 1 and the final state with the number of lines', async () => {
    const deployment = await TestDeployment.create(db.database)
    const client = await watch(deployment)
    await apply(deployment, { lines: numbered(0, 3), steps: [[0, 0, 'failed']] })
    await deployment.end('failed')
    await until(() => client.ended, 'the end')
    expect(client.messages.at(-1)).toEqual({
      event: 'state_change',
      data: {
        type: 'state_change',
        deployment_id: deployment.id,
        old_state: 'running',
        new_state: 'failed',
        message: 'Now failed',
        log_lines: 3,
      },
    })
    expect(client.all('progress').at(-1)).toMatchObject({ progress: 1 })
    expect(client.states).toEqual(['>running', 'running>failed'])
    const last = new Map(client.all('step_update').map(({ step_id, state }) => [step_id, state]))
    expect([...last.values()].sort()).toEqual(['failed', 'skipped', 'skipped', 'skipped'])
    expect(client.numbers).toEqual([0, 1, 2])
  })

  test('replays an ended deployment and ends with one final state', async () => {
    const deployment = await TestDeployment.create(db.database)
    await deployment.commit({ lines: numbered(0, 50), steps: [[0, 0, 'completed']] })
    await deployment.commit({ lines: numbered(50, 70) })
    await deployment.rollBack()
    await deployment.end('rolled_back', 'rolling_back')
    const client = await watch(deployment)
    await until(() => client.ended, 'the end')
    expect(client.numbers).toEqual(sequence(0, 70))
    expect(client.states).toEqual(['>rolling_back', 'rolling_back>rolled_back'])
    expect(client.messages.at(-1)).toMatchObject({ event: 'state_change', data: { log_lines: 70 } })
  })

  test('stays open for the last output of a cancelled deployment, and its end counts all lines', async () => {
    const deployment = await TestDeployment.create(db.database)
    deployment.epoch = 7_001
    const early = await watch(deployment)
    await apply(deployment, { lines: ['one'], steps: [[0, 0, 'running']] })
    await until(() => early.lines.length === 1, 'the first line')
    await deployment.cancel()
    const closed = () => early.all('step_update').some(({ state }) => state === 'cancelled')
    await until(closed, 'the closed step')
    const late = await watch(deployment)
    await apply(deployment, { lines: ['two', 'three'] })
    await until(() => early.lines.length === 3 && late.lines.length === 3, 'the last output')
    // This batch is not published to Redis.
    await deployment.commit({ lines: ['four'] })
    await until(() => early.lines.length === 4 && late.lines.length === 4, 'the lines that Redis did not bring')
    expect([early.ended, late.ended]).toEqual([false, false])
    await deployment.confirmStop()
    await until(() => early.ended && late.ended, 'the end')
    for (const client of [early, late]) {
      expect(client.numbers).toEqual(sequence(0, 4))
      expect(client.all('state_change').filter(({ new_state }) => new_state === 'cancelled')).toHaveLength(1)
      expect(client.messages.at(-1)).toMatchObject({ data: { new_state: 'cancelled', log_lines: 4 } })
    }
  })

  test('ends after a cancel if the instance does not confirm in time', async () => {
    const deployment = await TestDeployment.create(db.database)
    deployment.epoch = 7_002
    await apply(deployment, { lines: ['one'], steps: [[0, 0, 'running']] })
    await deployment.cancel('24 seconds')
    const client = await watch(deployment)
    await until(() => client.ended, 'the end')
    expect(client.messages.at(-1)).toMatchObject({ data: { new_state: 'cancelled', log_lines: 1 } })
  })

  test('ends with 0 lines for a deployment without lines', async () => {
    const deployment = await TestDeployment.create(db.database)
    await deployment.end('cancelled')
    const client = await watch(deployment)
    await until(() => client.ended, 'the end')
    expect(client.messages.at(-1)).toMatchObject({ data: { new_state: 'cancelled', log_lines: 0 } })
  })

  test('sends every change of state', async () => {
    const deployment = await TestDeployment.create(db.database)
    const client = await watch(deployment)
    await until(() => client.states.length === 1, 'the state')
    await deployment.rollBack()
    await until(() => client.states.length === 2, 'rolling back')
    await deployment.end('rolled_back', 'rolling_back')
    await until(() => client.ended, 'the end')
    expect(client.states).toEqual(['>running', 'running>rolling_back', 'rolling_back>rolled_back'])
  })

  test.each([
    ['in the middle of a chunk', 7, 10],
    ['where a chunk begins', 10, 10],
    ['at the end', 20, 0],
    ['beyond the end', 23, 0],
  ])('starts at line N with from=N: %s', async (_where, from) => {
    const deployment = await TestDeployment.create(db.database)
    await deployment.commit({ lines: numbered(0, 10) })
    await deployment.commit({ lines: numbered(10, 20) })
    const client = await watch(deployment, `&from=${from}`)
    await until(() => client.all('progress').length > 0, 'the opening')
    await apply(deployment, { lines: numbered(20, 25) })
    await apply(deployment, { lines: numbered(25, 30) })
    await deployment.end('success')
    await until(() => client.ended, 'the end')
    expect(client.numbers).toEqual(sequence(from, 30))
    expect(client.lines).toEqual(numbered(from, 30))
  })

  test('sends pings', async () => {
    const own = await startStreams({ database: db.database, limits: { pingMs: 100 } })
    const deployment = await TestDeployment.create(db.database)
    const client = await SseClient.open(own, deployment.id, await own.token())
    await until(() => client.all('ping').length >= 3, 'pings')
    client.close()
    await own.close()
  })

  test('frees its resources when its clients disconnect', async () => {
    const own = await startStreams({ database: db.database })
    const deployment = await TestDeployment.create(db.database)
    const clients = await Promise.all([1, 2, 3].map(async () => SseClient.open(own, deployment.id, await own.token())))
    await until(() => own.hubs.size() === 1, 'the hub')
    for (const client of clients) client.close()
    await until(() => own.hubs.size() === 0, 'the hub to be gone')
    await own.close()
  })

  test('ends without a final state when the service stops', async () => {
    const own = await startStreams({ database: db.database })
    const deployment = await TestDeployment.create(db.database)
    const client = await SseClient.open(own, deployment.id, await own.token())
    await until(() => client.states.length === 1, 'the state')
    await own.close()
    await until(() => client.ended, 'the end')
    expect(client.states).toEqual(['>running'])
  })
})

describe('the lines of a stream have no gap or repetition', () => {
  /** Applies batches of different sizes and calls `during` after each. */
  async function run(deployment: TestDeployment, during: (batch: number) => Promise<void> | void): Promise<void> {
    let line = 0
    for (let batch = 0; batch < 60; batch += 1) {
      const size = (batch * 7) % 23
      const state = batch % 2 === 0 ? 'running' : 'completed'
      await apply(deployment, {
        lines: numbered(line, line + size),
        steps: [[Math.floor(batch / 4), Math.floor(batch / 2) % 2, state]],
      })
      line += size
      await during(batch)
    }
    await deployment.end('success')
  }

  function expectWhole(client: SseClient, deployment: TestDeployment, from = 0): void {
    expect(client.numbers).toEqual(sequence(from, deployment.nextLine))
    expect(client.lines).toEqual(numbered(from, deployment.nextLine))
    const steps = client.all('step_update').map(({ step_id, state }) => `${step_id} ${state}`)
    expect(new Set(steps).size).toBe(steps.length)
    const progress = client.all('progress').map((each) => each.progress)
    expect(progress).toEqual([...progress].sort((a, b) => a - b))
    expect(progress.at(-1)).toBe(1)
    expect(client.all('state_change').at(-1)).toMatchObject({ new_state: 'success', log_lines: deployment.nextLine })
    expect(client.messages.at(-1)?.event).toBe('state_change')
  }

  test('for clients that connect at any time', async () => {
    const deployment = await TestDeployment.create(db.database, { targets: 15, actions: 2 })
    const clients: [SseClient, number][] = []
    await run(deployment, async (batch) => {
      if (batch % 6 !== 3) return
      const from = batch % 4 === 1 ? batch : 0
      clients.push([await watch(deployment, `&from=${from}`), from])
    })
    expect(clients.length).toBeGreaterThan(5)
    for (const [client, from] of clients) {
      await until(() => client.ended, 'the end')
      expectWhole(client, deployment, from)
    }
  })

  test('if Redis repeatedly loses all its data', async () => {
    const deployment = await TestDeployment.create(db.database, { targets: 15, actions: 2 })
    const client = await watch(deployment)
    await run(deployment, async (batch) => {
      // Like FLUSHALL, but limited to the namespace of this test.
      if (batch % 7 === 5) await streams.redis.del(...(await streams.redis.keys(`${streams.namespace}:*`)))
    })
    await until(() => client.ended, 'the end')
    expectWhole(client, deployment)
  })

  test('if batches arrive late, twice, out of order or not at all', async () => {
    const deployment = await TestDeployment.create(db.database, { targets: 15, actions: 2 })
    const client = await watch(deployment)
    const publish = (batch: Awaited<ReturnType<TestDeployment['commit']>>) =>
      deployment.publish(streams.redis, streams.namespace, batch)
    let held: Awaited<ReturnType<TestDeployment['commit']>> | undefined
    for (let n = 0; n < 40; n += 1) {
      const batch = await deployment.commit({
        lines: numbered(n * 5, n * 5 + 5),
        steps: [[n % 15, 0, n < 15 ? 'running' : 'completed']],
      })
      if (n % 5 === 1) continue
      if (n % 5 === 2) {
        held = batch
        continue
      }
      await publish(batch)
      if (held) await publish(held)
      if (n % 5 === 4) await publish(batch)
      held = undefined
    }
    await until(() => client.lines.length === 200, 'all lines, before the end')
    await deployment.end('success')
    await until(() => client.ended, 'the end')
    expectWhole(client, deployment)
  })

  test('if Redis delivers no batch', async () => {
    const missedBefore = await missedBatches()
    const deployment = await TestDeployment.create(db.database)
    const client = await watch(deployment)
    for (let n = 0; n < 10; n += 1) {
      await deployment.commit({ lines: numbered(n * 3, n * 3 + 3), steps: [[0, 0, n < 9 ? 'running' : 'completed']] })
    }
    await until(() => client.lines.length === 30, 'all lines')
    // This is more than one change of the hub holds, so every client reads from the database.
    await deployment.commit({ lines: numbered(30, 5_000) })
    await until(() => client.lines.length === 5_000, 'the many lines')
    await deployment.end('success')
    await until(() => client.ended, 'the end')
    expectWhole(client, deployment)
    expect(await missedBatches()).toBeGreaterThan(missedBefore)
  })

  test('under a later epoch with events that count from 0 again', async () => {
    const deployment = await TestDeployment.create(db.database)
    const client = await watch(deployment)
    await apply(deployment, { lines: numbered(0, 4), steps: [[0, 0, 'running']] })
    const late = await deployment.commit({ lines: numbered(4, 6) })
    deployment.epoch = 2
    deployment.nextEvent = 0
    await db.database.query(`UPDATE steps SET state = 'pending' WHERE deployment_id = $1`, [deployment.id])
    await apply(deployment, { lines: numbered(6, 9), steps: [[1, 0, 'running']] })
    await deployment.publish(streams.redis, streams.namespace, late)
    await until(() => client.lines.length === 9, 'the lines')
    expect(client.all('step_update').map(({ step_id, state }) => [step_id, state])).toEqual([
      [stepId(deployment.id, 0, 0), 'running'],
      [stepId(deployment.id, 1, 0), 'running'],
      [stepId(deployment.id, 0, 0), 'pending'],
    ])
    await deployment.end('success')
    await until(() => client.ended, 'the end')
    expect(client.numbers).toEqual(sequence(0, 9))
  })
})
