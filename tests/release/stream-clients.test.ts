import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import {
  type Api,
  createAction,
  createLocalTarget,
  logHistory,
  loginToSuite,
  type StreamMessage,
  type Suite,
  sseToken,
  startSuite,
} from '@slipway/testing'

/** Streams in real clients: EventSource of a browser, and curl. */

const BROWSERS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']
const browser = BROWSERS.find((name) => {
  try {
    return execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' })
  } catch {
    return false
  }
})

let suite: Suite
let api: Api
const children: ChildProcess[] = []

beforeAll(async () => {
  suite = await startSuite()
  api = await loginToSuite(suite)
})
afterEach(() => {
  // Kill the whole process group: Debian's browser is a shell script that starts the real one. A leftover browser would
  // keep calling its port, which the server of another test may use later.
  for (const { pid } of children.splice(0)) {
    try {
      if (pid !== undefined) process.kill(-pid, 'SIGKILL')
    } catch {
      // The process has already ended.
    }
  }
})
afterAll(() => suite.stop())

async function deploy(script: string): Promise<string> {
  const action_id = await createAction(api, { script })
  const { status, body } = await api.post('/deployments', { action_id, target_ids: [await createLocalTarget(api)] })
  expect(status).toBe(201)
  return body.deployment_id
}

/**
 * A page that reads the changes of deployments by EventSource, has a deployment started, reads its log by EventSource, and
 * reports all messages after the end.
 */
const page = (token: string) => `<!doctype html><script>
const open = async (path, onMessage) => {
  const answer = await fetch('/api/v1/auth/sse-token', { method: 'POST', headers: { Authorization: 'Bearer ${token}' } })
  const source = new EventSource(path + '?sse_token=' + (await answer.json()).sse_token)
  const messages = []
  const opened = new Promise((resolve) => {
    source.onmessage = ({ data, lastEventId }) => {
      messages.push({ ...JSON.parse(data), lastEventId })
      resolve(messages)
      onMessage?.(messages.at(-1), source)
    }
  })
  return opened
}
const run = async () => {
  const changes = await open('/api/v1/sse/deployments')
  const id = await (await fetch('/deploy', { method: 'POST' })).text()
  let log
  const ended = new Promise((resolve) => {
    log = open('/api/v1/deployments/' + id + '/logs', ({ data }, source) => {
      if (data.log_lines === undefined) return
      source.close()
      resolve()
    })
  })
  await ended
  while (!changes.some(({ data }) => data.id === id && data.resource.state === 'success')) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return { id, changes, log: await log }
}
const report = (what) => fetch('/report', { method: 'POST', body: JSON.stringify(what) })
run().then(report, (error) => report({ error: String(error) }))
</script>`

interface Reported {
  id: string
  log: (StreamMessage & { lastEventId: string })[]
  changes: StreamMessage[]
  error?: string
}

/** Serves the page, the start of the deployment and the API at one address, as an ingress does. */
async function serve(
  html: string,
  start: () => Promise<string>,
): Promise<{ url: string; reported: Promise<Reported>; close(): void }> {
  let report: (what: Reported) => void = () => {}
  const reported = new Promise<Reported>((resolve) => {
    report = resolve
  })
  const server = http.createServer((request, response) => {
    if (request.url === '/') return void response.setHeader('Content-Type', 'text/html').end(html)
    if (request.url === '/deploy') {
      start().then(
        (id) => response.end(id),
        (error) => response.destroy(error),
      )
      return
    }
    if (request.url === '/report') {
      let body = ''
      request.on('data', (chunk) => {
        body += chunk
      })
      request.on('end', () => report(JSON.parse(body)))
      return void response.end()
    }
    const { method = 'GET', headers } = request
    const outgoing = http.request(`${suite.url}${request.url}`, { method, headers, agent: false }, (incoming) => {
      response.writeHead(incoming.statusCode ?? 502, incoming.headers)
      incoming.pipe(response)
    })
    outgoing.on('error', () => response.destroy())
    request.pipe(outgoing)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    reported,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

const inBrowser = browser === undefined ? test.skip : test

inBrowser('EventSource in a browser gets a complete live log and the changes of deployments', async () => {
  const script = 'for i in 1 2 3 4 5 6; do echo "line $i: <b>\u20ac</b> \u{1f6a2}"; sleep 0.1; done'
  const server = await serve(page(api.token), () => deploy(script))
  try {
    const options = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']
    const profile = `--user-data-dir=${path.join(suite.folder, 'browser')}`
    children.push(
      spawn(browser as string, [...options, profile, '--remote-debugging-port=0', server.url], {
        stdio: 'ignore',
        detached: true,
      }),
    )
    const { id, log, changes, error } = await server.reported
    expect(error).toBeUndefined()
    expect(log[0]).toEqual({ event: 'ping', data: { type: 'ping' }, lastEventId: '' })
    expect(log.every(({ event, data, lastEventId }) => data.type === event && lastEventId === '')).toBe(true)
    const lines = log
      .filter(({ event }) => event === 'log')
      .map(({ data }) => [data.log.metadata.seq, data.log.message])
    expect(lines).toEqual((await logHistory(api, id)).map(({ message }, seq) => [seq, message]))
    expect(lines).toHaveLength(6)
    expect(log.at(-1)).toMatchObject({ event: 'state_change', data: { new_state: 'success', log_lines: 6 } })
    expect(changes[0]).toMatchObject({ event: 'ping' })
    expect(changes.at(-1)).toMatchObject({
      event: 'updated',
      data: { id, resource: { state: 'success', progress: 1 } },
    })
  } finally {
    server.close()
  }
})

/** Starts curl, which writes its input into a file at once. */
function curl(url: string): { text(): string; done: Promise<number | null> } {
  const file = path.join(suite.folder, `curl-${Math.random().toString(36).slice(2)}`)
  fs.writeFileSync(file, '')
  const child = spawn('curl', ['--silent', '--no-buffer', '--output', file, url], {
    stdio: 'ignore',
    detached: true,
  })
  children.push(child)
  return { text: () => fs.readFileSync(file, 'utf8'), done: new Promise((resolve) => child.once('exit', resolve)) }
}

test('curl gets a complete log in single data lines, from the gateway and from the log-stream', async () => {
  const id = await deploy('for i in 1 2 3; do echo "line $i"; sleep 0.1; done')
  const [direct = ''] = suite.logStreams
  const clients = []
  for (const base of [suite.url, direct]) {
    clients.push(curl(`${base}/api/v1/deployments/${id}/logs?sse_token=${await sseToken(api)}`))
  }
  for (const { text, done } of clients) {
    expect(await done).toBe(0)
    const frames = text().split('\n\n')
    expect(frames.pop()).toBe('')
    const messages = frames.map((frame) => {
      expect(frame).toMatch(/^data: \{[^\n]*\}$/)
      return JSON.parse(frame.slice('data: '.length)) as StreamMessage
    })
    expect(messages[0]).toEqual({ event: 'ping', data: { type: 'ping' } })
    expect(messages.flatMap(({ data }) => (data.type === 'log' ? [data.log.message] : []))).toEqual([
      'line 1',
      'line 2',
      'line 3',
    ])
    expect(messages.at(-1)?.data).toMatchObject({ type: 'state_change', new_state: 'success', log_lines: 3 })
  }
})
