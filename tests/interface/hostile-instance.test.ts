import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { SLIPWAY_VERSION } from '@slipway/runtime'
import {
  type Api,
  addJoinToken,
  connectTo,
  createAction,
  createLocalTarget,
  deploymentEnd,
  loginToSuite,
  type Suite,
  startSuite,
  waitFor,
} from '@slipway/testing'

/** One instance is real. The test plays another one, which reports illegal events. */
let suite: Suite
let database: Awaited<ReturnType<typeof connectTo>>
let api: Api
let credential: string

const CAPACITY = 4
beforeAll(async () => {
  suite = await startSuite({ capacity: 2 })
  database = await connectTo(suite.databaseUrl)
  api = await loginToSuite(suite)
  const token = await addJoinToken(suite.databaseUrl)
  credential = (await call('/v1/instances', token, { name: 'hostile', ...self })).body.credential
  await setDraining('one', true)
})
afterAll(async () => {
  await database?.end()
  await suite?.stop()
})

const self = { version: SLIPWAY_VERSION, capacity: CAPACITY, labels: {} }

async function call(path: string, token: string, body: object) {
  const response = await fetch(suite.bridgeUrl + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as { credential: string; start: Run[] } }
}

interface Run {
  deployment_id: string
  epoch: number
}

async function sync(runs: Run[] = []): Promise<Run[]> {
  const nothing = { stopped: [], refused: [], declined: [], probe_slots: 0, probes: [] }
  const held = runs.map((run) => ({ ...run, next_event: null }))
  const request = { ...self, wait_seconds: 0, accepts_runs: true, runs: held, ...nothing }
  return (await call('/v1/sync', credential, request)).body.start
}

async function setDraining(name: string, draining: boolean): Promise<void> {
  const { body } = await api.get(`/admin/instances?search=${name}`)
  await api.call('PATCH', `/admin/instances/${body.data[0].id}`, { draining })
}

async function deploy(): Promise<string> {
  const { status, body } = await api.post('/deployments', {
    action_id: await createAction(api, { script: 'true' }),
    target_ids: [await createLocalTarget(api)],
  })
  expect(status).toBe(201)
  return body.deployment_id
}

const at = '2026-01-31T09:00:00.000Z'
const send = (run: Run, events: object[]) =>
  call(`/v1/runs/${run.deployment_id}/events`, credential, { epoch: run.epoch, first_event: 0, events })

test('runs with illegal events end as failed and free their slots, and other instances run deployments', async () => {
  await sync()
  const ids = [await deploy(), await deploy(), await deploy()]
  let runs: Run[] = []
  await waitFor(async () => {
    runs = [...runs, ...(await sync(runs))]
    return runs.length === 3
  })
  const [first, second, third] = ids.map((id) => runs.find((run) => run.deployment_id === id)) as [Run, Run, Run]
  const success = { type: 'finished', at, outcome: 'success', error_message: null }
  expect((await send(first, [{ type: 'rolling_back', at }, success])).status).toBe(400)
  expect((await send(second, [{ ...success, outcome: 'rolled_back' }])).status).toBe(400)
  // The row that a bridge of the previous release would have stored, with its message lost.
  await database.query(
    `INSERT INTO run_progress (deployment_id, epoch, finished_at, finished_outcome)
     VALUES ($1, $2, now() - interval '1 minute', 'success')
     ON CONFLICT (deployment_id) DO UPDATE SET finished_at = EXCLUDED.finished_at, finished_outcome = 'success'`,
    [third.deployment_id, third.epoch],
  )
  await database.query(`UPDATE deployments SET state = 'rolling_back' WHERE id = $1`, [third.deployment_id])

  for (const id of ids) {
    const ended = await deploymentEnd(api, id)
    expect(ended.state).toBe('failed')
    expect(ended.error_message).toMatch(/illegal event|reported the end success/)
  }
  const { rows } = await database.query('SELECT FROM leases WHERE ended_at IS NULL')
  expect(rows).toEqual([])

  await setDraining('hostile', true)
  await setDraining('one', false)
  expect((await deploymentEnd(api, await deploy())).state).toBe('success')
})
