import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  type Api,
  createAction,
  createLocalTargets,
  loginToSuite,
  loseMessages,
  type Suite,
  startSuite,
  violatedInvariants,
  waitFor,
} from '@slipway/testing'

let suite: Suite
let api: Api

beforeAll(async () => {
  suite = await startSuite({ capacity: 4 })
  api = await loginToSuite(suite)
})

afterAll(() => suite.stop())

test('all accepted deployments end once, although RabbitMQ loses messages about them', async () => {
  const action_id = await createAction(api, { script: 'sleep 0.5' })
  const target_ids = await createLocalTargets(api, 1)
  const statuses: number[] = []
  // While the bridge is down, its queue does not exist, so the event messages that wake it are lost.
  for (let n = 0; n < 12; n += 1) {
    if (n === 2) await suite.kill('executor-bridge')
    statuses.push((await api.post('/deployments', { action_id, target_ids })).status)
  }
  expect(new Set(statuses)).toEqual(new Set([201, 202]))
  // The messages with the ends of runs wait for the stopped dispatcher, and are deleted.
  await suite.kill('dispatcher')
  await suite.start('executor-bridge')
  await waitFor(async () => (await loseMessages(suite.namespace, 500)) > 0, { what: 'ends to lose' })
  await suite.start('dispatcher')

  await waitFor(
    async () => {
      const { body } = await api.get('/deployments?limit=100')
      return body.data.length === 12 && body.data.every(({ state }: { state: string }) => state === 'success')
    },
    { timeoutMs: 90_000, everyMs: 250, what: 'all of them to succeed' },
  )
  expect(await violatedInvariants(suite.databaseUrl)).toEqual([])
})
