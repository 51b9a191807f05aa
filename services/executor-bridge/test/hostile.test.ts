import { Writable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { RunEvent } from '@slipway/contracts'
import { type ListeningServer, listen } from '@slipway/http'
import { createLogger, SLIPWAY_VERSION } from '@slipway/runtime'
import { type OpenTestDatabase, OTHER_VERSIONS, openTestDatabase } from '@slipway/testing'
import { createApp } from '../src/http/app.ts'
import { ended, finished, line, started } from './events.ts'
import {
  addGrant,
  endLease,
  type Joined,
  joinBody,
  joinInstance,
  lease,
  post,
  postJoin,
  type SeededRun,
  seedRun,
  startBridge,
  type TestBridge,
} from './setup.ts'

/** Attacks of an instance that an attacker has taken over, with a valid credential. */
let db: OpenTestDatabase
let own: TestBridge
let server: ListeningServer
let url: string
let instance: Joined
let slot = 0
const logged: Record<string, unknown>[] = []

beforeAll(async () => {
  db = await openTestDatabase()
  own = await startBridge(db.database)
  const stream = new Writable({
    write(chunk, _encoding, done) {
      for (const text of String(chunk).trim().split('\n')) logged.push(JSON.parse(text))
      done()
    },
  })
  const logger = createLogger({ service: 'test', level: 'info', stream: stream as never })
  server = await listen(createApp({ ...own.bridge, logger }, new AbortController().signal), {
    port: 0,
    host: '127.0.0.1',
    variable: 'none',
  })
  url = `http://127.0.0.1:${server.port}`
  instance = await joinInstance(own, { capacity: 100 })
})

afterAll(async () => {
  await server?.close()
  await own?.close()
  await db?.drop()
})

const newRun = () => {
  slot += 1
  return seedRun(db.database, { instanceId: instance.id, slot })
}
const eventsUrl = (run: SeededRun) => `${url}/v1/runs/${run.deploymentId}/events`
const batch = (run: SeededRun, events: unknown[]) => ({ epoch: run.epoch, first_event: 0, events })

const traces = async (run: SeededRun) => {
  const { rows } = await db.database.query(
    `SELECT (SELECT count(*)::int FROM command_results WHERE deployment_id = $1) AS results,
            (SELECT count(*)::int FROM log_chunks WHERE deployment_id = $1) AS chunks,
            (SELECT count(*)::int FROM steps WHERE deployment_id = $1 AND state <> 'pending') AS moved`,
    [run.deploymentId],
  )
  return rows[0]
}
const NOTHING = { results: 0, chunks: 0, moved: 0 }

describe('a refused request changes nothing and writes one log line with the reason:', () => {
  const cases: [string, RunEvent[], RegExp][] = [
    ['a step outside the plan', [started(7, 0)], /target 7, action 0 is outside the plan of 2 targets/],
    ['two results of a step in a batch', [started(0, 0), ended(0, 0), ended(0, 0)], /step 0\/0 is completed/],
    ['a wrong line number', [line(5)], /line 5 came where line 0 was expected/],
    ['a line of 70,001 characters', [line(0, 'x'.repeat(70_001))], /not valid/],
    [
      'an output tail of 8,001 characters',
      [started(0, 0), ended(0, 0, { stdout_tail: 'x'.repeat(8_001) })],
      /not valid/,
    ],
    ['an event without a valid time', [{ type: 'steps_skipped', at: 'never', steps: [] } as RunEvent], /not valid/],
  ]
  test.each(cases)('%s', async (_what, events, reason) => {
    const run = await newRun()
    logged.length = 0
    expect(await post(eventsUrl(run), instance.credential, batch(run, events))).toMatchObject({ status: 400 })
    expect(logged).toHaveLength(1)
    expect(logged[0]).toMatchObject({
      level: 'warn',
      message: expect.stringMatching(/refused/),
      instance_id: instance.id,
      status: 400,
    })
    expect(logged[0]?.['reason']).toMatch(reason)
    expect(JSON.stringify(logged[0]).length).toBeLessThan(2_000)
    expect(await traces(run)).toEqual(NOTHING)
  })

  test('results of a run of another instance', async () => {
    const run = await newRun()
    const stranger = await joinInstance(own)
    logged.length = 0
    expect(await post(eventsUrl(run), stranger.credential, batch(run, [started(0, 0), ended(0, 0)]))).toMatchObject({
      status: 409,
      body: { error: { code: 'FENCED' } },
    })
    expect(logged).toMatchObject([{ level: 'warn', instance_id: stranger.id, code: 'FENCED' }])
    expect(await traces(run)).toEqual(NOTHING)
  })

  test('a join with another major version; the line names both versions', async () => {
    logged.length = 0
    await postJoin({ url }, await addGrant(db.database), joinBody({ version: OTHER_VERSIONS.major }))
    expect(logged).toHaveLength(1)
    expect(logged[0]?.['reason']).toContain(`has version ${OTHER_VERSIONS.major}, Slipway has ${SLIPWAY_VERSION}`)
  })

  test('a body that is too large, plain and compressed', async () => {
    const run = await newRun()
    const text = JSON.stringify(batch(run, [line(0, 'x'.repeat(20 * 1024 * 1024))]))
    const headers = { authorization: `Bearer ${instance.credential}`, 'content-type': 'application/json' }
    logged.length = 0
    const packed = await fetch(eventsUrl(run), {
      method: 'POST',
      headers: { ...headers, 'content-encoding': 'gzip' },
      body: gzipSync(text),
    })
    expect([packed.status, (await post(eventsUrl(run), instance.credential, text)).status]).toEqual([413, 413])
    expect(logged.map(({ code }) => code)).toEqual(['PAYLOAD_TOO_LARGE', 'PAYLOAD_TOO_LARGE'])
    expect(await traces(run)).toEqual(NOTHING)
  })
})

describe('an illegal order of events', () => {
  const at = '2026-01-31T09:00:00.000Z'
  const rollingBack: RunEvent = { type: 'rolling_back', at }
  const undoing = (target: number, action: number): RunEvent => ({ type: 'rollback_started', at, target, action })
  const undone = (target: number, action: number): RunEvent => ({
    type: 'rollback_ended',
    at,
    target,
    action,
    ok: true,
    error_message: null,
  })
  const skipped = (target: number, action: number): RunEvent => ({
    type: 'steps_skipped',
    at,
    steps: [[target, action]],
  })
  const done = [started(0, 0), ended(0, 0)]

  const ends = async (run: SeededRun) => {
    const { rows } = await db.database.query<{ body: object }>(
      `SELECT body FROM outbox WHERE type = 'run.finished' AND body ->> 'deployment_id' = $1`,
      [run.deploymentId],
    )
    return rows.map(({ body }) => body)
  }

  const cases: [string, RunEvent[], RegExp][] = [
    ['a success after a rollback', [rollingBack, finished()], /run that is rolling_back cannot end with success/],
    [
      'a success after a step that was rolled back',
      [...done, undoing(0, 0), undone(0, 0), finished()],
      /cannot end with success/,
    ],
    [
      'the end of a rollback that never began',
      [finished('rolled_back')],
      /run that is running cannot end with rolled_back/,
    ],
    ['a result without a start', [ended(0, 0)], /Step 0\/0 cannot become completed/],
    ['a second result', [...done, ended(0, 0)], /0\/0/],
    ['a start after the result', [...done, started(0, 0, 1)], /0\/0/],
    ['a skip of a completed step', [...done, skipped(0, 0)], /0\/0/],
    ['a rollback of a step that never ran', [rollingBack, undoing(0, 0)], /0\/0/],
    ['the end of a rollback script that never began', [...done, rollingBack, undone(0, 0)], /0\/0/],
  ]

  test.each(cases)('%s ends the run failed, with the reason', async (_what, events, reason) => {
    const run = await newRun()
    expect(await post(eventsUrl(run), instance.credential, batch(run, events))).toMatchObject({
      status: 400,
      body: { error: { code: 'VALIDATION_ERROR', message: expect.stringMatching(reason) } },
    })
    const end = { outcome: 'failed', reason: 'illegal_event', error_message: expect.stringMatching(reason) }
    expect(await ends(run)).toMatchObject([end])
    // Later events are refused, and the end is published once.
    expect((await post(eventsUrl(run), instance.credential, batch(run, [started(1, 1)]))).status).toBe(400)
    expect(await ends(run)).toHaveLength(1)
  })

  test.each(cases)('%s is also refused if each event comes in its own batch', async (_what, events) => {
    const run = await newRun()
    const statuses: number[] = []
    for (const [first_event, event] of events.entries()) {
      const body = { epoch: run.epoch, first_event, events: [event] }
      statuses.push((await post(eventsUrl(run), instance.credential, body)).status)
    }
    expect(statuses).toEqual([...Array(events.length - 1).fill(200), 400])
    expect(await ends(run)).toMatchObject([{ outcome: 'failed' }])
  })

  test('in one run does not stop another run of the same instance', async () => {
    const [bad, good] = [await newRun(), await newRun()]
    await post(eventsUrl(bad), instance.credential, batch(bad, [rollingBack, finished()]))
    const events = [...done, finished()]
    expect((await post(eventsUrl(good), instance.credential, batch(good, events))).status).toBe(200)
    expect(await ends(good)).toMatchObject([{ outcome: 'success' }])
  })

  test('the next instance may end a rollback that a lost instance began', async () => {
    const run = await newRun()
    await post(eventsUrl(run), instance.credential, batch(run, [...done, rollingBack, undoing(0, 0)]))
    await endLease(db.database, run.epoch)
    slot += 1
    const epoch = await lease(db.database, { ...run, instanceId: instance.id, slot })
    const rest = [undoing(0, 0), undone(0, 0), finished('rolled_back')]
    const body = { epoch, first_event: 0, events: rest }
    expect((await post(eventsUrl(run), instance.credential, body)).status).toBe(200)
  })
})

test('a body that is not UTF-8 is refused', async () => {
  const run = await newRun()
  const text = JSON.stringify(batch(run, [line(0, 'a#b')]))
  const bytes = Buffer.from(text)
  bytes[bytes.indexOf('#')] = 0xff
  const response = await fetch(eventsUrl(run), {
    method: 'POST',
    headers: { authorization: `Bearer ${instance.credential}`, 'content-type': 'application/json' },
    body: bytes,
  })
  expect(response.status).toBe(400)
  expect(await traces(run)).toEqual(NOTHING)
})
