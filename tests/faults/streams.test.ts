import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import {
  type Api,
  createAction,
  createGate,
  createLocalTarget,
  createLocalTargets,
  createUser,
  deploymentEnd,
  type Gate,
  type LogEntry,
  logHistory,
  loginToSuite,
  openChangeStream,
  openLogStream,
  type PrivateRedis,
  readStream,
  type StreamMessage,
  type Suite,
  sseToken,
  startRedis,
  startSuite,
  waitFor,
} from '@slipway/testing'

let redis: PrivateRedis
let suite: Suite
let api: Api

beforeAll(async () => {
  redis = await startRedis()
  suite = await startSuite({ secondLogStream: true, env: { REDIS_URL: redis.url } })
  api = await loginToSuite(suite)
})

afterEach(() => suite.restore())

afterAll(async () => {
  await suite?.stop()
  await redis?.stop()
})

interface Watched {
  messages: StreamMessage[]
  openings: number
  ended: Promise<void>
}

const linesOf = (messages: StreamMessage[]) =>
  messages.filter(({ event }) => event === 'log').map(({ data }) => data.log)

/** A client that reopens its stream after its last line whenever the stream breaks, until the final message. */
function watch(url: string, id: string): Watched {
  const watched: Watched = { messages: [], openings: 0, ended: Promise.resolve() }
  const { messages } = watched
  const isOver = () => messages.at(-1)?.event === 'state_change' && messages.at(-1)?.data.log_lines !== undefined
  watched.ended = (async () => {
    while (!isOver()) {
      try {
        const response = await openLogStream({ url }, api, id, linesOf(messages).length)
        if (response.status !== 200) throw new Error(`answered ${response.status}`)
        watched.openings += 1
        await readStream(response, (message) => messages.push(message))
      } catch {
        // The connection broke, or the server is not back yet.
        await sleep(100)
      }
    }
  })()
  return watched
}

/** Starts four simultaneous commands that write each line to their output and to a file. The gate holds the last line. */
async function startWriting(lines: number, gate: Gate): Promise<{ id: string; written(): Record<string, string[]> }> {
  const folder = fs.mkdtempSync(path.join(suite.folder, 'written-'))
  const script = [
    `i=0`,
    `while [ $i -lt ${lines} ]; do`,
    `  i=$((i+1)); [ $i -ne ${lines} ] || ${gate.script}`,
    `  line="$SLIPWAY_TARGET_NAME says $i: \\"quoted\\" \\\\ $(printf '\\342\\202\\254')"`,
    `  printf '%s\\n' "$line" >> "$SLIPWAY_VAR_FOLDER/$SLIPWAY_TARGET_NAME"`,
    `  printf '%s\\n' "$line"`,
    `  [ $((i % 20)) -ne 0 ] || sleep 0.6`,
    `done`,
  ].join('\n')
  const action_id = await createAction(api, { script })
  const target_ids = await createLocalTargets(api, 4)
  const { status, body } = await api.post('/deployments', {
    action_id,
    target_ids,
    target_mode: 'parallel',
    variables: { folder },
  })
  expect(status).toBe(201)
  return {
    id: body.deployment_id,
    written: () =>
      Object.fromEntries(
        fs
          .readdirSync(folder)
          .map((name) => [name, fs.readFileSync(path.join(folder, name), 'utf8').trimEnd().split('\n')]),
      ),
  }
}

const byTarget = (lines: { target_name: string | null; message: string }[]) => {
  const texts: Record<string, string[]> = {}
  for (const { target_name, message } of lines) {
    if (target_name !== null) texts[target_name] = [...(texts[target_name] ?? []), message]
  }
  return texts
}

function expectWhole({ messages }: Watched, history: LogEntry[]): void {
  const lines = linesOf(messages)
  expect(lines.map(({ metadata }) => metadata.seq)).toEqual(history.map((_, n) => n))
  expect(lines.map(({ message, target_name, level }) => [message, target_name, level])).toEqual(
    history.map(({ message, target_name, level }) => [message, target_name, level]),
  )
  const finals = messages.filter(({ data }) => data.log_lines !== undefined)
  expect(finals).toEqual([messages.at(-1)])
  expect(finals[0]?.data).toMatchObject({ new_state: 'success', log_lines: history.length })
}

test('history and all streams have each line once, although services are killed and Redis is emptied and restarted', async () => {
  const lines = 1_000
  const gate = createGate(suite)
  const { id, written } = await startWriting(lines, gate)
  const [first = '', second = ''] = suite.logStreams
  const watchers = [suite.url, suite.url, first, second, second].map((url) => watch(url, id))
  const seen = () => Math.max(...watchers.map(({ messages }) => linesOf(messages).length))
  const more = (count: number) => {
    const before = seen()
    return waitFor(() => seen() >= Math.min(before + count, 4 * (lines - 1)), {
      what: `${count} more lines`,
    })
  }
  await more(100)
  await redis.flush()
  await more(200)
  await suite.kill('log-stream')
  watchers.push(watch(second, id))
  await suite.start('log-stream')
  await more(200)
  await suite.kill('executor-bridge')
  await suite.start('executor-bridge')
  await more(200)
  await redis.kill()
  await sleep(1_000)
  await redis.start()
  await more(200)
  await suite.kill('log-stream-2')
  await suite.start('log-stream-2')
  await redis.flush()
  // Redis has lost its limits and tokens. Sessions are in Postgres, so the user is still logged in.
  watchers.push(watch(suite.url, id))
  await waitFor(() => watchers.slice(0, 5).every(({ openings }) => openings > 1), {
    what: 'all streams to be opened again',
  })
  gate.open()
  expect(await deploymentEnd(api, id)).toMatchObject({ state: 'success' })
  await Promise.all(watchers.map(({ ended }) => ended))

  const history = await logHistory(api, id)
  expect(byTarget(history)).toEqual(written())
  expect(Object.values(written()).map(({ length }) => length)).toEqual([lines, lines, lines, lines])
  for (const watched of watchers) expectWhole(watched, history)
})

test('change streams of all replicas send the items of the list, and a logout ends the streams', async () => {
  const own = await createUser(suite, api, ['operator'])
  const listen = async (url: string, resource: string) => {
    const listened: { messages: StreamMessage[]; over: boolean } = { messages: [], over: false }
    const response = await openChangeStream({ url }, own, resource)
    expect(response.status).toBe(200)
    void readStream(response, (message) => listened.messages.push(message))
      .catch(() => {})
      .finally(() => {
        listened.over = true
      })
    await waitFor(() => listened.messages.length > 0, { what: 'the ping' })
    return listened
  }
  const [, second = ''] = suite.logStreams
  const streams = {
    targets: await listen(suite.url, 'targets'),
    elsewhere: await listen(second, 'targets'),
    deployments: await listen(suite.url, 'deployments'),
    freezes: await listen(second, 'freezes'),
    instances: await listen(second, 'instances'),
    pending: await listen(suite.url, 'pending'),
  }
  const target = await createLocalTarget(api)
  const action_id = await createAction(api, { script: 'for i in 1 2 3 4; do sleep 0.7; done' })
  const sequence = await api.post('/sequences', {
    name: 'slowly',
    version: '1.0.0',
    definition: { actions: [{ action_id }, { action_id }] },
  })
  const { body } = await api.post('/deployments', { sequence_id: sequence.body.id, target_ids: [target] })
  await deploymentEnd(api, body.deployment_id)
  const last = (name: keyof typeof streams, id: string) =>
    streams[name].messages.filter(({ data }) => data.id === id).at(-1)?.data
  await waitFor(() => last('deployments', body.deployment_id)?.resource?.state === 'success', { what: 'the end' })
  const listed = (await api.get('/deployments')).body.data.find(({ id }: { id: string }) => id === body.deployment_id)
  expect(last('deployments', body.deployment_id)).toMatchObject({
    type: 'updated',
    resource_type: 'deployments',
    resource: listed,
  })
  const told = streams.deployments.messages.filter(({ data }) => data.id === body.deployment_id).map(({ data }) => data)
  expect(told[0]).toMatchObject({ type: 'created', resource: { state: 'running' } })
  expect(told.map(({ resource }) => resource.progress)).toContain(0.5)
  await waitFor(() => last('elsewhere', target) && last('targets', target), { what: 'the target' })
  expect(last('elsewhere', target)).toEqual(last('targets', target))
  await waitFor(() => streams.instances.messages.length > 2, { what: 'a slot to be taken and freed' })

  await api.call('DELETE', `/targets/${target}`)
  await waitFor(() => last('targets', target)?.type === 'deleted', { what: 'the deletion' })
  expect(last('targets', target)).toMatchObject({ resource: null })
  const freeze = await api.post('/deployment-freezes', {
    name: 'a freeze',
    start_time: '2099-01-01T00:00:00Z',
    end_time: '2099-01-02T00:00:00Z',
  })
  await waitFor(() => last('freezes', freeze.body.id)?.type === 'created', { what: 'the freeze' })
  expect(last('freezes', freeze.body.id).resource).toEqual(freeze.body)

  expect(Object.values(streams).some(({ over }) => over)).toBe(false)
  expect((await own.post('/auth/logout')).status).toBe(200)
  await waitFor(() => Object.values(streams).every(({ over }) => over), { what: 'all streams to end' })
  expect((await fetch(`${second}/api/v1/sse/targets?sse_token=${await sseToken(api)}`)).status).toBe(200)
})
