import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Suite, startSuite } from '@slipway/testing'

const BURST = 20
const PATH = '/api/v1/sse/deployments?sse_token=nonsense'

let suite: Suite
beforeAll(async () => {
  suite = await startSuite({
    env: {
      SLIPWAY_TRUSTED_PROXIES: '127.0.0.0/8',
      SLIPWAY_RATE_LIMIT_RPS: '1',
      SLIPWAY_RATE_LIMIT_BURST: String(BURST),
      SLIPWAY_RATE_LIMIT_OVERRIDES: '127.0.0.1/32=0',
    },
  })
})
afterAll(() => suite.stop())

/** The statuses of requests that an ingress forwards from this address to a service. */
async function statuses(url: string, address: string, count: number): Promise<number[]> {
  const all: number[] = []
  for (let n = 0; n < count; n++) {
    all.push((await fetch(`${url}${PATH}`, { headers: { 'X-Forwarded-For': address } })).status)
  }
  return all
}

test('streams of the gateway and of the log-stream count in one bucket, each once', async () => {
  const [logStream = ''] = suite.logStreams
  const started = performance.now()
  expect(await statuses(suite.url, '203.0.113.1', BURST / 2)).toEqual(Array(BURST / 2).fill(401))
  expect(await statuses(logStream, '203.0.113.1', BURST / 2)).toEqual(Array(BURST / 2).fill(401))
  const direct = await statuses(logStream, '203.0.113.1', 2 * BURST)
  const flowedIn = Math.ceil((performance.now() - started) / 1_000)
  expect(direct.filter((status) => status !== 429).length).toBeLessThanOrEqual(flowedIn)
  expect(await statuses(logStream, '203.0.113.2', 1)).toEqual([401])
})
