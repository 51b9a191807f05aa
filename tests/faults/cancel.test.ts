import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  type Api,
  completeLines,
  createAction,
  createLocalTarget,
  logHistory,
  loginToSuite,
  openLogStream,
  readStream,
  type Suite,
  startSuite,
  violatedInvariants,
  waitFor,
} from '@slipway/testing'

const PARALLEL = 6

let suite: Suite
let api: Api
let target: string

beforeAll(async () => {
  suite = await startSuite({ capacity: PARALLEL })
  api = await loginToSuite(suite)
  target = await createLocalTarget(api)
})

afterAll(() => suite.stop())

async function deploy(script: string, max_retries = 0): Promise<string> {
  const action_id = await createAction(api, { script, max_retries })
  const { body } = await api.post('/deployments', { action_id, target_ids: [target] })
  return body.deployment_id
}

const stepOf = async (id: string) => (await api.get(`/deployments/${id}`)).body.plan.steps[0]

/** The start times in milliseconds that commands wrote into the file. */
const startsIn = (file: string) => completeLines(file).map(Number)

/** Cancels so many ms after the start of the first attempt, or after a retry started. Returns the recorded retries. */
async function cancelAtRetry(moment: number | 'after a retry'): Promise<number> {
  const file = path.join(suite.folder, randomUUID())
  const id = await deploy(`date +%s%3N >> ${file}; exit 1`, 10)
  await waitFor(() => startsIn(file).length > (moment === 'after a retry' ? 1 : 0), { everyMs: 1 })
  if (moment !== 'after a retry') await delay(Math.max(0, (startsIn(file)[0] ?? 0) + moment - Date.now()))
  expect((await api.post(`/deployments/${id}/cancel`)).body.state).toBe('cancelled')

  const { body: cancelled } = await api.get(`/deployments/${id}`)
  const [step] = cancelled.plan.steps
  const { body: results } = await api.get(`/deployments/${id}/analysis`)
  // The stream ends when the instance has confirmed the end of its commands.
  await readStream(await openLogStream(suite, api, id))
  const starts = startsIn(file)
  expect(starts.length).toBeLessThanOrEqual(1 + step.retry_count)
  expect(results).toMatchObject([{ status: 'cancelled' }])
  const [recorded, ended] = [results[0].started_at, cancelled.completed_at].map((time) => Date.parse(time))
  expect(recorded).toBeLessThanOrEqual(ended ?? 0)
  // The last attempt is recorded before its command starts and after the previous attempt started.
  if (starts.length === 1 + step.retry_count) expect(recorded).toBeLessThanOrEqual(starts.at(-1) ?? 0)
  if (step.retry_count > 0) expect(recorded).toBeGreaterThan(starts[step.retry_count - 1] ?? 0)
  const { retry_count, started_at } = await stepOf(id)
  expect([retry_count, started_at]).toEqual([step.retry_count, step.started_at])
  return step.retry_count
}

test('every attempt that starts was recorded before the cancel, at any moment of the cancel', async () => {
  // The retry starts after 1 s. The cancels come long before it, around it, and long after it.
  const around = Array.from({ length: PARALLEL - 2 }, (_, n) => 990 + 20 * n)
  const moments = [500, ...around, 'after a retry' as const]
  const retries = await Promise.all(moments.map(cancelAtRetry))
  expect(retries.at(-1)).toBeGreaterThan(0)
})

test('a cancelled command has all its output in the log, and the stream stays open for it', async () => {
  const id = await deploy(`trap 'sleep 2; echo bye; exit' TERM; echo up; while :; do sleep 0.1; done`)
  await waitFor(async () => (await logHistory(api, id)).length === 1, { what: 'the first line' })
  const watched = readStream(await openLogStream(suite, api, id))
  expect((await api.post(`/deployments/${id}/cancel`)).body.state).toBe('cancelled')
  const messages = await watched
  const lines = messages.filter(({ event }) => event === 'log').map(({ data }) => data.log.message)
  // The shell may also print that its `sleep` was terminated.
  expect(lines).toEqual(expect.arrayContaining(['up', 'bye']))
  expect((await logHistory(api, id)).map(({ message }) => message)).toEqual(lines)
  const final = messages.filter(({ data }) => data.new_state === 'cancelled')
  expect(final).toEqual(messages.slice(-1))
  expect(final).toMatchObject([{ event: 'state_change', data: { log_lines: lines.length } }])
  expect((await stepOf(id)).error_message).toMatch(/it was ended$/)
})

test('the stream of a cancelled deployment ends after the time for last output if the instance is dead', async () => {
  const id = await deploy('echo up; sleep 600')
  await waitFor(async () => (await logHistory(api, id)).length === 1, { what: 'the first line' })
  const watched = readStream(await openLogStream(suite, api, id))
  await suite.kill('orchestration-instance')
  await api.post(`/deployments/${id}/cancel`)
  expect((await watched).at(-1)).toMatchObject({ data: { new_state: 'cancelled', log_lines: 1 } })
  expect((await stepOf(id)).error_message).toMatch(/its end is not confirmed$/)
  await suite.start('orchestration-instance')
})

test('all invariants hold after these cancels', async () => {
  expect(await violatedInvariants(suite.databaseUrl)).toEqual([])
})
