import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { RunEvent, StoredLine } from '@slipway/contracts'
import { type ListeningServer, listen } from '@slipway/http'
import { uuidv7 } from '@slipway/runtime'
import { type OpenTestDatabase, openTestDatabase } from '@slipway/testing'
import { createApp } from '../src/http/app.ts'
import { keepWithinLimits, type LogBytes } from '../src/log-volume/keep.ts'
import { LogVolume } from '../src/log-volume/log-volume.ts'
import { ended, line, started } from './events.ts'
import {
  endLease,
  type Joined,
  joinInstance,
  lease,
  post,
  postSync,
  type SeededRun,
  seedRun,
  startBridge,
  type TestBridge,
} from './setup.ts'

let db: OpenTestDatabase
let plain: TestBridge
let instance: Joined
let slot = 0
const servers: ListeningServer[] = []

beforeAll(async () => {
  db = await openTestDatabase()
  plain = await startBridge(db.database)
  instance = await joinInstance(plain, { capacity: 100 })
})
afterAll(async () => {
  for (const server of servers) await server.close()
  await plain?.close()
  await db?.drop()
})

/** A bridge with these limits, which reads the sums of tenants at each batch. Returns its address. */
async function limited(limits: Partial<LogBytes>): Promise<string> {
  const logVolume = new LogVolume({ deployment: 0, tenant_day: 0, ...limits }, { refreshMs: 0 })
  const app = createApp({ ...plain.bridge, logVolume }, new AbortController().signal)
  const server = await listen(app, { port: 0, host: '127.0.0.1', variable: 'none' })
  servers.push(server)
  return `http://127.0.0.1:${server.port}`
}

async function newRun(tenantId?: string): Promise<SeededRun> {
  slot += 1
  const run = await seedRun(db.database, { instanceId: instance.id, slot })
  if (tenantId === undefined) return run
  await db.database.query('INSERT INTO tenants (id, name, slug) VALUES ($1, $2, $2) ON CONFLICT DO NOTHING', [
    tenantId,
    tenantId,
  ])
  await db.database.query('UPDATE deployments SET tenant_id = $2 WHERE id = $1', [run.deploymentId, tenantId])
  return run
}

async function send(url: string, run: SeededRun, first_event: number, events: RunEvent[], epoch = run.epoch) {
  const answer = await post(`${url}/v1/runs/${run.deploymentId}/events`, instance.credential, {
    epoch,
    first_event,
    events,
  })
  expect(answer).toEqual({ status: 200, body: { next_event: first_event + events.length } })
}

const output = (from: number, count: number) => Array.from({ length: count }, (_, index) => line(from + index))
const systemLine = (number: number): RunEvent => ({ ...line(number, 'Slipway says'), stream: 'system' }) as RunEvent

/** The stored lines. Fails if their numbers have a gap. */
async function stored({ deploymentId }: SeededRun): Promise<string[]> {
  const { rows } = await db.database.query<{ first_line: number; lines: StoredLine[] }>(
    'SELECT first_line, lines FROM log_chunks WHERE deployment_id = $1 ORDER BY first_line',
    [deploymentId],
  )
  const texts: string[] = []
  for (const { first_line, lines } of rows) {
    expect(Number(first_line)).toBe(texts.length)
    texts.push(...lines.map(({ m }) => m))
  }
  return texts
}

const droppedOf = async ({ deploymentId }: SeededRun) => {
  const { rows } = await db.database.query<{ dropped_lines: number | null }>(
    'SELECT dropped_lines FROM steps WHERE deployment_id = $1 ORDER BY target_index, action_index',
    [deploymentId],
  )
  return rows.map(({ dropped_lines }) => dropped_lines)
}

const NOTICE =
  /^This deployment has logged 1000 bytes \(SLIPWAY_LOG_DEPLOYMENT_BYTES\): further output of commands is dropped/

test('beyond the limit of a deployment its output is dropped, one line says so, and everything else goes on', async () => {
  const url = await limited({ deployment: 1_000 })
  const run = await newRun()
  await send(url, run, 0, [started(0, 0), ...output(0, 20)])
  await send(url, run, 21, [...output(20, 5), systemLine(25), ...output(26, 4)])
  await send(url, run, 31, [...output(30, 7), ended(0, 0)])
  const lines = await stored(run)
  expect(lines.slice(0, 20)).toEqual(output(0, 20).map((event) => (event as { text: string }).text))
  expect(lines.slice(20)).toEqual([expect.stringMatching(NOTICE), 'Slipway says'])
  expect(await droppedOf(run)).toEqual([16, null, null, null])

  // Unfinished lines are output, too.
  await post(`${url}/v1/runs/${run.deploymentId}/partial-lines`, instance.credential, {
    epoch: run.epoch,
    lines: [{ at: '2026-01-31T09:00:00.000Z', target: 0, action: 0, stream: 'stdout', text: 'half', next_line: 37 }],
  })
  expect(plain.publishedPartialLines).toEqual([])

  // Another instance numbers its lines from the stored ones on.
  await endLease(db.database, run.epoch)
  const next = await lease(db.database, { deploymentId: run.deploymentId, instanceId: instance.id, slot: 90 })
  const { body } = await postSync({ url }, instance)
  const start = body.start.find(({ epoch }: { epoch: number }) => epoch === next)
  expect(start.spec.first_line).toBe(22)
  await send(url, run, 0, [started(0, 1), systemLine(22), line(23)], next)
  expect((await stored(run)).slice(22)).toEqual(['Slipway says'])
})

test('a tenant that has reached the limit of the day logs no more output; others do, and so does the next day', async () => {
  const [own, other] = [uuidv7(), uuidv7()]
  const one = await limited({ tenant_day: 1_000 })
  const two = await limited({ tenant_day: 1_000 })
  const [first, second, foreign] = [await newRun(own), await newRun(own), await newRun(other)]
  await send(one, first, 0, output(0, 20))
  for (const run of [second, foreign]) await send(two, run, 0, output(0, 3))
  expect(await stored(second)).toEqual([expect.stringMatching(/SLIPWAY_LOG_TENANT_DAY_BYTES/)])
  expect(await stored(foreign)).toHaveLength(3)

  await db.database.query('UPDATE run_progress SET log_day = log_day - 1')
  await send(two, second, 3, output(3, 2))
  expect((await stored(second)).slice(1)).toEqual(['line 3', 'line 4'])
})

test('lines of Slipway exceed a limit by its reserve only', () => {
  const limits = { deployment: 1_000_000_000, tenant_day: 0 }
  const lines: StoredLine[] = [{ t: 0, i: 0, a: 0, s: 's', l: 'error', m: 'failed' }]
  const kept = (deployment: number) => keepWithinLimits(lines, limits, { deployment, tenant_day: 0 }, null).lines
  expect(kept(1_099_999_999)).toEqual(lines)
  expect(kept(1_100_000_000)).toEqual([
    expect.objectContaining({ s: 's', i: null, m: expect.not.stringMatching('failed') }),
  ])
})
