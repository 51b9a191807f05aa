import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { lineId, stepId } from '@slipway/domain'
import { addDeployment } from './deployment-rows.ts'
import { type Client, clientOf, startGateway, type TestGateway } from './setup.ts'

let gateway: TestGateway
let admin: Client
let id: string

const line = (number: number) => ({
  t: 1_700_000_000_000 + number,
  ...(number % 10 === 9 ? { i: null, a: null, s: 's' } : { i: number % 2, a: 0, s: number % 3 === 0 ? 'e' : 'o' }),
  l: 'info',
  m: `line ${number}`,
})

beforeAll(async () => {
  gateway = await startGateway()
  admin = clientOf(gateway, gateway.adminToken)
  id = await addDeployment(gateway.database)
  // Chunks of 7 lines: 0-6, 7-13, … 1498-1504.
  for (let first = 0; first < 1_505; first += 7) {
    const lines = Array.from({ length: 7 }, (_, index) => line(first + index))
    await gateway.database.query(
      'INSERT INTO log_chunks (deployment_id, first_line, line_count, lines) VALUES ($1, $2, 7, $3)',
      [id, first, JSON.stringify(lines)],
    )
  }
})
afterAll(() => gateway.close())

const numbers = async (query: string) => {
  const { body } = await admin.send('listDeploymentLogs', `/deployments/${id}/logs/history${query}`)
  return body.map(({ metadata }: { metadata: { seq: number } }) => metadata.seq) as number[]
}
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index)

test('lines are returned in order from any offset, within the limits', async () => {
  expect(await numbers('')).toEqual(range(0, 100))
  expect(await numbers('?offset=5&limit=4')).toEqual(range(5, 9))
  expect(await numbers('?offset=700&limit=1')).toEqual([700])
  expect(await numbers('?offset=1500&limit=100')).toEqual(range(1_500, 1_505))
  expect(await numbers('?offset=5000')).toEqual([])
  expect(await numbers('?offset=999999999999999999')).toEqual([])
  expect(await numbers('?offset=-3&limit=0')).toEqual([0])
  expect(await numbers('?limit=5000')).toEqual(range(0, 1_000))
})

test('pages of any size together are the whole log', async () => {
  for (const limit of [1_000, 499, 64]) {
    const all: number[] = []
    for (let page: number[]; ; ) {
      page = await numbers(`?offset=${all.length}&limit=${limit}`)
      if (page.length === 0) break
      all.push(...page)
    }
    expect(all).toEqual(range(0, 1_505))
  }
})

test('after retention dropped lines, the log begins with the first kept line and its number', async () => {
  const kept = await addDeployment(gateway.database, { state: 'success' })
  await gateway.database.query(
    `INSERT INTO log_chunks (deployment_id, first_line, line_count, lines)
     SELECT $1, first_line, line_count, lines FROM log_chunks WHERE deployment_id = $2 AND first_line >= 700`,
    [kept, id],
  )
  const page = async (query: string) => {
    const { body } = await admin.send('listDeploymentLogs', `/deployments/${kept}/logs/history${query}`)
    return body.map(({ id, metadata }: { id: string; metadata: { seq: number } }) => [id, metadata.seq])
  }
  const entries = (from: number, to: number) => range(from, to).map((seq) => [lineId(kept, seq), seq])
  expect(await page('?limit=3')).toEqual(entries(700, 703))
  expect(await page('?offset=3&limit=10')).toEqual(entries(703, 713))
  expect(await page('?offset=800')).toEqual(entries(1_500, 1_505))
  expect(await page('?offset=805')).toEqual([])
})

test('lines of several days are one log', async () => {
  const long = await addDeployment(gateway.database)
  await gateway.database.query(`UPDATE deployments SET created_at = now() - interval '3 days' WHERE id = $1`, [long])
  await gateway.database.query(
    `INSERT INTO log_chunks (deployment_id, first_line, line_count, lines, created_at)
     SELECT $1, first_line, line_count, lines,
            now() - interval '3 days' + first_line * interval '3 days' / 1505 FROM log_chunks WHERE deployment_id = $2`,
    [long, id],
  )
  const { body } = await admin.send('listDeploymentLogs', `/deployments/${long}/logs/history?offset=600&limit=900`)
  expect(body.map(({ metadata }: { metadata: { seq: number } }) => metadata.seq)).toEqual(range(600, 1_500))
})

test('an entry contains the origin of its line', async () => {
  const { body } = await admin.send('listDeploymentLogs', `/deployments/${id}/logs/history?limit=10`)
  expect(body[3]).toMatchObject({
    id: lineId(id, 3),
    timestamp: '2023-11-14T22:13:20.003+00:00',
    level: 'info',
    event_type: 'log',
    step_id: stepId(id, 1, 0),
    target_name: 'target-1',
    message: 'line 3',
    stdout: null,
    stderr: 'line 3',
    metadata: { seq: 3 },
    analysis: null,
  })
  expect(body[1]).toMatchObject({ stdout: 'line 1', stderr: null })
  expect(body[9]).toMatchObject({ step_id: null, target_id: null, target_name: null, stdout: null, stderr: null })
})
