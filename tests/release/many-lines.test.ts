import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  type Api,
  createAction,
  createLocalTarget,
  loginToSuite,
  logPages,
  type Suite,
  startSuite,
  waitFor,
} from '@slipway/testing'

const LINES = 200_000
/** The instance reads the lines faster than the bridge stores them: 12 s on an idle machine. */
const PATIENCE_MS = 120_000

let suite: Suite
let api: Api

beforeAll(async () => {
  suite = await startSuite()
  api = await loginToSuite(suite)
})
afterAll(() => suite?.stop())

test('the history has 200,000 lines once and in order, and the instance stays online meanwhile', async () => {
  const file = path.join(suite.folder, 'written')
  const action_id = await createAction(api, { script: `seq 1 ${LINES} | tee "$SLIPWAY_VAR_FILE"` })
  const target_ids = [await createLocalTarget(api)]
  const { body } = await api.post('/deployments', { action_id, target_ids, variables: { file } })
  const id: string = body.deployment_id
  const states = new Set<string>()
  const end = await waitFor(
    async () => {
      const { body: instances } = await api.get<{ data: { status: string }[] }>('/admin/instances')
      for (const { status } of instances.data) states.add(status)
      const { body: deployment } = await api.get(`/deployments/${id}`)
      return deployment.completed_at === null ? null : deployment
    },
    { timeoutMs: PATIENCE_MS, everyMs: 1_000, what: 'the deployment to end' },
  )
  // An instance without heartbeats for too long would kill its commands.
  expect(end).toMatchObject({ state: 'success', error_message: null })
  expect([...states]).toEqual(['online'])

  const logged = createHash('sha256')
  let next = 0
  for await (const page of logPages(api, id)) {
    for (const { stdout, metadata } of page) {
      if (metadata.seq !== next) throw new Error(`line ${metadata.seq} where ${next} was due`)
      logged.update(`${stdout}\n`)
      next += 1
    }
  }
  expect(next).toBe(LINES)
  expect(logged.digest('hex')).toBe(createHash('sha256').update(readFileSync(file)).digest('hex'))
})
