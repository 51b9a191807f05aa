import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { keptLog, type OpenTestDatabase, openTestDatabase } from '@slipway/testing'
import { numbered, TestDeployment } from './deployment.ts'
import { droppedFor } from './metrics.ts'
import { startStreams, type TestStreams, until } from './setup.ts'
import { openStalled, SseClient } from './sse.ts'

let db: OpenTestDatabase
let streams: TestStreams
const { logger, written } = keptLog()

const cutOff = (deployment: TestDeployment) =>
  written()
    .split('\n')
    .some((line) => line.includes('is cut off') && line.includes(deployment.id))

// The periodic resync is off, so every batch arrives through Redis.
beforeAll(async () => {
  db = await openTestDatabase()
  streams = await startStreams({
    database: db.database,
    logger,
    limits: { graceMs: 300 },
    resyncMs: 3_600_000,
  })
})

afterAll(async () => {
  await streams?.close()
  await db?.drop()
})

const watch = async (deployment: TestDeployment) => SseClient.open(streams, deployment.id, await streams.token())

/** Applies lines of about 1 KB until the condition holds. */
async function pour(deployment: TestDeployment, until: () => boolean): Promise<void> {
  for (let n = 0; !until(); n += 1) {
    if (n > 400) throw new Error('poured 100 MB in vain')
    const from = deployment.nextLine
    await deployment.apply(streams.redis, streams.namespace, { lines: numbered(from, from + 250, 1_000) })
  }
}

const stall = async (deployment: TestDeployment) =>
  openStalled(
    `${streams.url}/api/v1/deployments/${deployment.id}/logs?sse_token=${await streams.token()}`,
    '"progress"',
  )

describe('a client that reads too slowly', () => {
  test('is cut off without an effect on other clients', async () => {
    const deployment = await TestDeployment.create(db.database)
    const droppedBefore = await droppedFor('slow')
    const [good, stalled] = [await watch(deployment), await stall(deployment)]
    await until(() => good.all('progress').length > 0, 'the opening')
    await pour(deployment, () => cutOff(deployment))
    await until(() => good.lines.length === deployment.nextLine, 'all lines at the good one')
    expect(good.numbers).toEqual(Array.from({ length: deployment.nextLine }, (_, n) => n))
    // The sockets still hold what the service sent before. Then the connection ends.
    let received = ''
    stalled.socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1')
    })
    stalled.socket.resume()
    await until(stalled.closed, 'the cut')
    const last = Number(/.*"message":"line (\d+) /s.exec(received)?.[1] ?? -1)
    expect(last).toBeLessThan(deployment.nextLine)
    expect(await droppedFor('slow')).toBe(droppedBefore + 1)
    good.close()
    await until(() => streams.hubs.size() === 0, 'the hub to be gone')
  })

  test('is not cut off during a long history', async () => {
    const deployment = await TestDeployment.create(db.database)
    for (let n = 0; n < 20; n += 1) await deployment.commit({ lines: numbered(n * 500, (n + 1) * 500, 1_000) })
    await deployment.end('success')
    const client = await watch(deployment)
    client.response.pause()
    // The client stays paused until a live client that stalled later is cut off.
    const other = await TestDeployment.create(db.database)
    const stalled = await stall(other)
    await pour(other, () => cutOff(other))
    stalled.socket.destroy()
    expect(cutOff(deployment)).toBe(false)
    client.response.resume()
    await until(() => client.ended, 'the end')
    expect(client.lines).toHaveLength(10_000)
  })
})

test('a burst over the limits cuts off no client that reads', async () => {
  const deployment = await TestDeployment.create(db.database)
  const client = await watch(deployment)
  await until(() => client.all('progress').length > 0, 'the opening')
  await Promise.all([
    deployment.apply(streams.redis, streams.namespace, { lines: numbered(0, 2_000, 500) }),
    until(() => client.lines.length === 2_000, 'the burst'),
  ])
  client.close()
})

test('fifty clients of one deployment all receive every line', async () => {
  const deployment = await TestDeployment.create(db.database)
  const clients = await Promise.all(Array.from({ length: 50 }, () => watch(deployment)))
  await until(() => clients.every((client) => client.all('progress').length > 0), 'the openings')
  for (let n = 0; n < 20; n += 1) {
    await deployment.apply(streams.redis, streams.namespace, { lines: numbered(n * 10, n * 10 + 10) })
  }
  await until(() => clients.every((client) => client.lines.length === 200), 'all lines everywhere')
  for (const client of clients) expect(client.lines).toEqual(numbered(0, 200))
  for (const client of clients) client.close()
})

test('a line with control characters stays one data line', async () => {
  const deployment = await TestDeployment.create(db.database)
  const lines = [
    'data: x',
    'a\r\nb\n\ndata: {}',
    '\u2028\u2029',
    `"\\${randomBytes(4).toString('hex')}`,
    '😀'.repeat(10),
  ]
  const client = await watch(deployment)
  await until(() => client.all('progress').length > 0, 'the opening')
  await deployment.apply(streams.redis, streams.namespace, { lines })
  await until(() => client.lines.length === lines.length, 'the lines')
  expect(client.lines).toEqual(lines)
  client.close()
})
