import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import {
  type Api,
  createAction,
  createGate,
  createLocalTargets,
  deploymentEnd,
  type Gate,
  type LogEntry,
  logHistory,
  loginToSuite,
  openLogStream,
  type PrivateRedis,
  readStream,
  type StreamMessage,
  type Suite,
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
  messages.filter(({ event, data }) => event === 'log' && !data.log.metadata.partial).map(({ data }) => data.log)

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
  const lines = 500
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
