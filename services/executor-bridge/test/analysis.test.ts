import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import type { RunEvent, StoredLine } from '@slipway/contracts'
import { loadConfig } from '@slipway/runtime'
import { testLogger as logger, type OpenTestDatabase, openTestDatabase, waitFor } from '@slipway/testing'
import { type Analyst, createAnalyst } from '../src/analysis/analyst.ts'
import { endpointOf } from '../src/analysis/configured.ts'
import { bridgeConfig } from '../src/config.ts'
import { ended, started } from './events.ts'
import { type Joined, joinInstance, post, type SeededRun, seedRun, startBridge, type TestBridge } from './setup.ts'

let db: OpenTestDatabase
let plain: TestBridge
let instance: Joined
let slot = 0

beforeAll(async () => {
  db = await openTestDatabase()
  plain = await startBridge(db.database)
  instance = await joinInstance(plain, { capacity: 100 })
})
afterAll(async () => {
  await plain?.close()
  await db?.drop()
})

const newRun = (options: { targets?: number; actions?: number } = {}) => {
  slot += 1
  return seedRun(db.database, { instanceId: instance.id, slot, targets: 1, actions: 1, ...options })
}

const send = async (run: SeededRun, first_event: number, events: RunEvent[], bridge = plain) => {
  const url = `${bridge.url}/v1/runs/${run.deploymentId}/events`
  const { status } = await post(url, instance.credential, { epoch: run.epoch, first_event, events })
  expect(status).toBe(200)
}

const DISK = "cp: error writing '/opt/app': No space left on device\n"
const failed = (target: number, action: number, fields: Partial<Extract<RunEvent, { type: 'step_ended' }>> = {}) =>
  ended(target, action, { state: 'failed', exit_code: 1, error_message: 'exit code 1', stderr_tail: DISK, ...fields })
/** The log line with which an instance reports that a step has failed. */
const report = (target: number, action: number, number: number): RunEvent => ({
  type: 'log',
  at: '2026-01-31T09:00:02.000Z',
  target,
  action,
  stream: 'system',
  level: 'error',
  line: number,
  text: `release on target ${target} failed: exit code 1`,
  metadata: { exit_code: 1 },
})

// biome-ignore lint/suspicious/noExplicitAny: records are looked into field by field
const resultsOf = async (run: SeededRun): Promise<any[]> =>
  (
    await db.database.query(
      'SELECT * FROM command_results WHERE deployment_id = $1 ORDER BY target_index, action_index',
      [run.deploymentId],
    )
  ).rows

const linesOf = async (run: SeededRun): Promise<StoredLine[]> => {
  const { rows } = await db.database.query<{ lines: StoredLine[] }>(
    'SELECT lines FROM log_chunks WHERE deployment_id = $1 ORDER BY first_line',
    [run.deploymentId],
  )
  return rows.flatMap(({ lines }) => lines)
}

const byRules = { model_version: 'rules-3', summary: 'The disk is full', fingerprint: 'disk-full' }

describe('a command that failed', () => {
  test('has an analysis in its result and in the log line that reports it, stored and live', async () => {
    const run = await newRun({ targets: 2 })
    await send(run, 0, [started(0, 0), started(1, 0), ended(0, 0), failed(1, 0), report(1, 0, 0)])
    expect(await resultsOf(run)).toMatchObject([
      { status: 'completed', analysis: null },
      { status: 'failed', analysis: { ...byRules, confidence: expect.any(Number), remediation: expect.any(Array) } },
    ])
    const x = { exit_code: 1, fingerprint: byRules.fingerprint, analysis: expect.objectContaining(byRules) }
    expect(await linesOf(run)).toMatchObject([{ x }])
    expect(plain.published.at(-1)?.lines).toMatchObject([{ x }])
  })

  test('has an analysis in its log line also if the line comes in a later batch', async () => {
    const run = await newRun()
    await send(run, 0, [started(0, 0), failed(0, 0)])
    await send(run, 2, [report(0, 0, 0)])
    expect((await linesOf(run))[0]?.x).toMatchObject({
      fingerprint: 'disk-full',
      analysis: { model_version: 'rules-3' },
    })
  })

  test('has the same fingerprint on all targets on which it failed for the same reason', async () => {
    const run = await newRun({ targets: 3 })
    const events = [0, 1, 2].flatMap((target) => [
      started(target, 0),
      failed(target, 0, {
        exit_code: 9,
        stderr_tail: `target ${target}: frob 10.0.0.${target} gave up (${target * 7})`,
      }),
    ])
    await send(run, 0, events)
    const fingerprints = (await resultsOf(run)).map(({ analysis }) => analysis.fingerprint)
    expect(new Set(fingerprints).size).toBe(1)
    expect(fingerprints[0]).toMatch(/^unknown-[0-9a-f]{8}$/)
  })

  test('gets a new analysis when a later attempt fails', async () => {
    const run = await newRun()
    await send(run, 0, [started(0, 0), failed(0, 0)])
    await db.database.query(`UPDATE steps SET state = 'running' WHERE deployment_id = $1`, [run.deploymentId])
    await send(run, 2, [failed(0, 0, { attempt: 1, stderr_tail: 'sh: 1: frob: not found', exit_code: 127 })])
    expect(await resultsOf(run)).toMatchObject([{ analysis: { summary: 'The command frob was not found' } }])
  })

  test('has no analysis if a later attempt succeeds', async () => {
    const run = await newRun()
    await send(run, 0, [started(0, 0), failed(0, 0)])
    await db.database.query(`UPDATE steps SET state = 'running' WHERE deployment_id = $1`, [run.deploymentId])
    await send(run, 2, [ended(0, 0, { attempt: 1 })])
    expect(await resultsOf(run)).toMatchObject([{ status: 'completed', analysis: null }])
  })

  test('has no analysis if the deployment has analyses switched off', async () => {
    const run = await newRun()
    await db.database.query('UPDATE deployments SET analysis_enabled = false WHERE id = $1', [run.deploymentId])
    await send(run, 0, [started(0, 0), failed(0, 0), report(0, 0, 0)])
    expect(await resultsOf(run)).toMatchObject([{ status: 'failed', analysis: null }])
    expect((await linesOf(run))[0]?.x).toEqual({ exit_code: 1 })
  })

  test('has an analysis although its output has characters that Postgres refuses', async () => {
    const run = await newRun()
    await send(run, 0, [started(0, 0), failed(0, 0, { exit_code: 9, stderr_tail: 'frob\0\ud800 \\u0000 gave up' })])
    expect((await resultsOf(run))[0].analysis.summary).toMatch(/gave up/)
  })
})

describe('an endpoint', () => {
  interface Asked {
    path: string
    authorization: string | undefined
    // biome-ignore lint/suspicious/noExplicitAny: bodies are looked into field by field
    body: any
  }
  const running: { close(): Promise<void> }[] = []
  afterEach(async () => {
    for (const one of running.splice(0)) await one.close()
  })

  /** A real HTTP server. `answer` may leave a request without an answer. */
  async function startEndpoint(answer: (response: ServerResponse, asked: Asked) => void) {
    const asked: Asked[] = []
    const server = createServer(async (request: IncomingMessage, response) => {
      let text = ''
      for await (const piece of request) text += piece
      const { url = '', headers } = request
      const one = { path: url, authorization: headers.authorization, body: JSON.parse(text) }
      asked.push(one)
      answer(response, one)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    running.push({
      close: async () => {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      },
    })
    return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }
  }

  async function bridgeAsking(url: string, settings: Record<string, string> = {}) {
    const config = loadConfig(bridgeConfig, {
      DATABASE_URL: 'postgres://none',
      RABBITMQ_URL: 'amqp://none',
      REDIS_URL: 'redis://none',
      SLIPWAY_ENCRYPTION_KEYS: `a:${Buffer.alloc(32).toString('base64')}`,
      SLIPWAY_ANALYSIS_URL: url,
      SLIPWAY_ANALYSIS_KEY: 'key-of-the-endpoint',
      SLIPWAY_ANALYSIS_MODEL: 'oracle-1',
      SLIPWAY_ANALYSIS_ALLOW_PRIVATE: 'true',
      ...settings,
    })
    const endpoint = endpointOf(config)
    if (!endpoint) throw new Error('no endpoint is configured')
    const analyst: Analyst = createAnalyst({ endpoint, database: db.as('executor-bridge'), logger, stopMs: 200 })
    const bridge = await startBridge(db.database, undefined, analyst)
    running.push({ close: () => Promise.all([analyst.stop(), bridge.close()]).then(() => {}) })
    return { bridge, analyst }
  }

  const opinion = {
    confidence: 0.77,
    summary: 'The volume is full',
    likely_cause: 'Old releases fill it',
    remediation: ['Remove old releases'],
  }
  const saying = (content: unknown, more: object = {}) => {
    const text = typeof content === 'string' ? content : JSON.stringify(content)
    return JSON.stringify({ ...more, choices: [{ message: { role: 'assistant', content: text } }] })
  }
  const analysisOf = async (run: SeededRun) => (await resultsOf(run))[0]?.analysis

  test('that answers correctly replaces the analysis of the rules, except its fingerprint', async () => {
    const { asked, url } = await startEndpoint((response) => response.end(saying(opinion, { model: 'oracle-1-small' })))
    const { bridge } = await bridgeAsking(url)
    const run = await newRun()
    await send(run, 0, [started(0, 0), failed(0, 0, { stdout_tail: 'see https://u:hunter2@host/x' })], bridge)
    await waitFor(async () => (await analysisOf(run))?.model_version === 'oracle-1-small', {
      what: 'what the endpoint says',
    })
    expect(await analysisOf(run)).toEqual({
      ...opinion,
      fingerprint: 'disk-full',
      model_version: 'oracle-1-small',
      analyzed_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/),
    })
    expect(asked).toMatchObject([
      { path: '/v1/chat/completions', authorization: 'Bearer key-of-the-endpoint', body: { model: 'oracle-1' } },
    ])
    const told = JSON.parse(asked[0]?.body.messages[1].content)
    expect(told).toMatchObject({ exit_code: 1, error: 'exit code 1', stderr_tail: DISK })
    expect(JSON.stringify(asked)).not.toContain('hunter2')
    expect(JSON.stringify(asked)).not.toContain('target 0')
  })

  test('may put its JSON into a code block and leave out the name of its model', async () => {
    const { url } = await startEndpoint((response) =>
      response.end(saying(`\`\`\`json\n${JSON.stringify(opinion)}\n\`\`\``)),
    )
    const { bridge } = await bridgeAsking(url)
    const run = await newRun()
    await send(run, 0, [started(0, 0), failed(0, 0)], bridge)
    await waitFor(async () => (await analysisOf(run))?.model_version === 'oracle-1', { what: 'what the endpoint says' })
  })

  test('is called once for many commands with the same failure', async () => {
    const { asked, url } = await startEndpoint((response) => response.end(saying(opinion)))
    const { bridge } = await bridgeAsking(url)
    const run = await newRun({ targets: 20 })
    const events = Array.from({ length: 20 }, (_, target) => [started(target, 0), failed(target, 0)]).flat()
    await send(run, 0, events, bridge)
    await waitFor(async () => (await resultsOf(run)).every(({ analysis }) => analysis.model_version === 'oracle-1'), {
      what: 'all of them explained',
    })
    expect(asked).toHaveLength(1)
  })

  test.each<[string, (response: ServerResponse) => void]>([
    ['an error', (response) => response.writeHead(500).end(saying(opinion))],
    ['a redirect', (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
    ['no JSON', (response) => response.end('<html>')],
    ['another form of JSON', (response) => response.end('{"choices":[]}')],
    ['prose', (response) => response.end(saying('The disk is full, I think.'))],
    ['fields that do not fit', (response) => response.end(saying({ ...opinion, confidence: 7 }))],
    ['too few fields', (response) => response.end(saying({ summary: 'full' }))],
    ['too much', (response) => response.end(saying({ ...opinion, summary: 'x'.repeat(100_000) }))],
    ['half an answer', (response) => response.writeHead(200, { 'content-length': '9999' }).end('{"choices"')],
    ['a broken connection', (response) => void response.socket?.destroy()],
    ['nothing in time', () => {}],
  ])(
    'that answers with %s leaves the analysis of the rules, and the next failure is sent to it too',
    async (_, answer) => {
      let well = false
      const { asked, url } = await startEndpoint((response) =>
        well ? response.end(saying(opinion)) : answer(response),
      )
      const { bridge } = await bridgeAsking(url, { SLIPWAY_ANALYSIS_TIMEOUT_SECONDS: '1' })
      const [run, next] = [await newRun(), await newRun()]
      await send(run, 0, [started(0, 0), failed(0, 0)], bridge)
      // The answer to the batch did not wait for the endpoint: the analysis of the rules is stored.
      expect(await analysisOf(run)).toMatchObject(byRules)
      await waitFor(() => asked.length === 1, { what: 'the question' })
      well = true
      await send(next, 0, [started(0, 0), failed(0, 0)], bridge)
      await waitFor(async () => (await analysisOf(next)).model_version === 'oracle-1', { what: 'the next answer' })
      expect(await analysisOf(run)).toMatchObject(byRules)
    },
  )

  test('that does not answer gets four calls at a time, delays no batch, and is not waited for at a stop', async () => {
    const { asked, url } = await startEndpoint(() => {})
    const { bridge, analyst } = await bridgeAsking(url)
    const run = await newRun({ targets: 300 })
    const events = Array.from({ length: 300 }, (_, target) => [
      started(target, 0),
      failed(target, 0, {
        exit_code: 9,
        stderr_tail: `no ${String.fromCharCode(97 + (target % 26))}${'frob'.repeat(1 + Math.trunc(target / 26))}`,
      }),
    ]).flat()
    await send(run, 0, events, bridge)
    expect((await resultsOf(run)).map(({ analysis }) => analysis.model_version)).toEqual(new Array(300).fill('rules-3'))
    await waitFor(() => asked.length === 4, { what: 'the first questions' })
    await analyst.stop()
    expect(asked).toHaveLength(4)
  })

  test('at a private address is not called unless the settings allow it', async () => {
    const { asked, url } = await startEndpoint((response) => response.end(saying(opinion)))
    const { bridge, analyst } = await bridgeAsking(url, { SLIPWAY_ANALYSIS_ALLOW_PRIVATE: 'false' })
    const run = await newRun()
    await send(run, 0, [started(0, 0), failed(0, 0)], bridge)
    await analyst.stop()
    expect(asked).toEqual([])
    expect(await analysisOf(run)).toMatchObject(byRules)
  })

  test('needs a model, and a URL without user name', async () => {
    await expect(bridgeAsking('http://127.0.0.1:1/v1', { SLIPWAY_ANALYSIS_MODEL: '' })).rejects.toThrow(
      /SLIPWAY_ANALYSIS_MODEL is missing/,
    )
    await expect(bridgeAsking('http://u:p@127.0.0.1:1/v1')).rejects.toThrow(
      /SLIPWAY_ANALYSIS_URL must hold no user name/,
    )
  })
})
