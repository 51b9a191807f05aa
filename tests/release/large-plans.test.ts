import fs from 'node:fs'
import http from 'node:http'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { compile, Preview } from '@slipway/contracts'
import { stepId } from '@slipway/domain'
import {
  type Api,
  addLocalTargets,
  connectTo,
  createAction,
  createSequence,
  deploymentEnd,
  loginToSuite,
  type Suite,
  startSuite,
  violatedInvariants,
  waitFor,
} from '@slipway/testing'

const TARGETS = 2_000
const ACTIONS = 10

let suite: Suite
let api: Api
let targets: string[]
let actions: string[]
let sequence_id: string

beforeAll(async () => {
  suite = await startSuite()
  api = await loginToSuite(suite)
  const database = await connectTo(suite.databaseUrl)
  targets = await addLocalTargets(database, TARGETS)
  await database.end()
  actions = []
  for (let n = 0; n < ACTIONS; n += 1) actions.push(await createAction(api, {}, `action "${n}" é`))
  sequence_id = await createSequence(api, actions)
})

afterAll(async () => {
  try {
    // The targets were inserted without calls, so they have no audit records.
    const database = await connectTo(suite.databaseUrl)
    await database.query('DELETE FROM targets WHERE id = ANY($1::uuid[])', [targets])
    await database.end()
    expect(await violatedInvariants(suite.databaseUrl)).toEqual([])
  } finally {
    await suite.stop()
  }
})

interface Step {
  id: string
  target_id: string
  target_name: string
  action_id: string
  action_name: string
  action_order: number
  state: string
}

/** Expects all steps in order: target by target in the requested order, and action by action. */
function expectSteps(steps: Step[], owner: string, order: string[]): void {
  expect(steps).toHaveLength(order.length * ACTIONS)
  const places = steps.map(({ target_id, action_id, action_order }) => `${target_id} ${action_id} ${action_order}`)
  const expected = order.flatMap((target) => actions.map((action, index) => `${target} ${action} ${index}`))
  expect(places).toEqual(expected)
  const ids = order.flatMap((_, target) => actions.map((_action, action) => stepId(owner, target, action)))
  expect(steps.map(({ id }) => id)).toEqual(ids)
  for (const { target_id, target_name, action_name, action_order } of steps) {
    const number = targets.indexOf(target_id) + 1
    if (target_name === `rack-${String(number).padStart(5, '0')}` && action_name === `action "${action_order}" é`)
      continue
    throw new Error(`a step of ${target_name} (${number}) does ${action_name}`)
  }
}

const preview = (body: object) => api.post('/deployments/preview', body)

test('a preview has all steps in order: of ids in their order, and of a tag in the order of names', async () => {
  const reversed = [...targets].reverse()
  const byIds = await preview({ sequence_id, target_ids: reversed })
  const byTag = await preview({ sequence_id, target_tags: [{ key: 'fleet', value: 'racks' }] })
  for (const [{ status, body }, order] of [
    [byIds, reversed],
    [byTag, targets],
  ] as const) {
    expect(status).toBe(200)
    expect(compile(Preview)(body)).toEqual([])
    expect(body.plan.target_count).toBe(TARGETS)
    expect(body.target_summary).toMatchObject({ total: TARGETS, online: TARGETS })
    const steps: Step[] = body.plan.steps
    expect(new Set(steps.map(({ id }) => id)).size).toBe(TARGETS * ACTIONS)
    expect(steps.map(({ target_id, action_id }) => `${target_id} ${action_id}`)).toEqual(
      order.flatMap((target) => actions.map((action) => `${target} ${action}`)),
    )
    expect(new Set(steps.map(({ state }) => state))).toEqual(new Set(['pending']))
  }
})

test('a refusal of a large plan reaches the client', async () => {
  const unknown = '00000000-0000-4000-8000-000000000000'
  const { status, body } = await preview({ sequence_id, target_ids: [...targets, unknown] })
  expect(status).toBe(404)
  expect(body.error.details.missing).toEqual([{ path: `/target_ids/${TARGETS}`, id: unknown }])
})

test('a large deployment can be created, read while it runs, cancelled and redeployed', async () => {
  const request = { sequence_id, target_ids: targets, target_mode: 'parallel' }
  const created = await api.post('/deployments', request)
  expect(created.status).toBe(201)
  const { deployment_id: id, deployment } = created.body
  expect(deployment).toMatchObject({ id, state: 'running', total_steps: TARGETS * ACTIONS, completed_steps: 0 })
  expectSteps(deployment.plan.steps, id, targets)
  expect(new Set(deployment.plan.steps.map(({ state }: Step) => state))).toEqual(new Set(['pending']))

  await waitFor(async () => (await api.get(`/deployments?limit=1`)).body.data[0].completed_steps >= 20, {
    what: 'the first steps to complete',
  })
  const { status } = await api.post(`/deployments/${id}/cancel`)
  expect(status).toBe(200)
  const ended = await deploymentEnd(api, id)
  expect(ended.state).toBe('cancelled')
  expectSteps(ended.plan.steps, id, targets)
  const states = new Map<string, number>()
  for (const { state } of ended.plan.steps as Step[]) states.set(state, (states.get(state) ?? 0) + 1)
  expect([...states.keys()].filter((state) => !['completed', 'cancelled'].includes(state))).toEqual([])
  expect(states.get('completed')).toBe(ended.completed_steps)
  expect(ended.completed_steps).toBeGreaterThanOrEqual(20)

  const again = await api.post(`/deployments/${id}/redeploy`, {})
  expect(again.status).toBe(201)
  expect(again.body).toMatchObject({ source_deployment_id: id, total_steps: TARGETS * ACTIONS })
  expect((await api.post(`/deployments/${again.body.id}/cancel`)).status).toBe(200)
})

test('slow readers of large answers use little memory of the gateway and get their whole answers', async () => {
  const READERS = 10
  const body = JSON.stringify({ sequence_id, target_ids: targets })
  const memory = () => {
    const status = fs.readFileSync(`/proc/${suite.pid('gateway')}/status`, 'utf8')
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
  }
  await preview({ sequence_id, target_ids: targets })
  const before = memory()
  const answers: http.IncomingMessage[] = []
  for (let n = 0; n < READERS; n += 1) answers.push(await openPreview(body))
  // Other clients are served meanwhile.
  expect((await api.get('/deployments?limit=1')).status).toBe(200)
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  // In MiB, for ten answers of 9 MB each.
  expect(memory() - before).toBeLessThan(50)
  for (const answer of answers) {
    expect(answer.statusCode).toBe(200)
    expect(JSON.parse(await textOf(answer)).plan.steps).toHaveLength(TARGETS * ACTIONS)
  }
})

/** Sends a preview and returns the paused answer. */
function openPreview(body: string): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' }
    const request = http.request(`${suite.url}/api/v1/deployments/preview`, { method: 'POST', headers }, (answer) => {
      answer.pause()
      resolve(answer)
    })
    request.on('error', reject).end(body)
  })
}

async function textOf(answer: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
