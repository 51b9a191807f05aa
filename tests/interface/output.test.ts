import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import {
  type Api,
  createAction,
  createLocalTarget,
  createSequence,
  createWithRetries,
  deploymentEnd,
  type LogEntry,
  logHistory,
  loginToSuite,
  openLogStream,
  readStream,
  type Sshd,
  type Suite,
  startSshd,
  startSuite,
} from '@slipway/testing'

let sshd: Sshd
let suite: Suite
let api: Api
const targets: Record<string, string> = {}
const SECRET = `hunter2-${randomUUID()}`

beforeAll(async () => {
  sshd = await startSshd()
  suite = await startSuite()
  api = await loginToSuite(suite)
  targets['local'] = await createLocalTarget(api)
  const { body } = await api.post('/targets', { name: 'over-ssh', connection: sshd.connection })
  targets['ssh'] = body.id
})

afterAll(async () => {
  await suite.stop()
  await sshd.stop()
})

/** Writes typical output to both streams, in pieces that cut characters and values, and stores each byte in a file. */
const PROGRAM = `
import os, sys, time
secret = os.environ['SLIPWAY_VAR_TOKEN'].encode()
folder = os.environ['SLIPWAY_VAR_FOLDER']
notes = {1: open(folder + '.stdout', 'wb'), 2: open(folder + '.stderr', 'wb')}
def write(fd, *pieces):
    for piece in pieces:
        notes[fd].write(piece)
        while piece:
            piece = piece[os.write(fd, piece):]
        time.sleep(0.02)
write(1, b'plain\\n', b'\\n', b'  two\\tblanks  \\r\\n')
write(2, b'first error\\n')
write(1, b'\\x1b[31mred\\x1b[0m and \\x1b[1;32mgreen\\x1b[0m\\n')
write(1, b' 10%\\r', b' 50%\\r', b'100%\\r', b'\\n')
write(1, b'\\xef\\xbb\\xbfmark\\n', 'Grüße 😀 日本\\n'.encode())
for byte in 'é😀日'.encode(): write(1, bytes([byte]))
write(1, b'\\n')
write(2, b'not text: \\xff\\xfe \\xc3\\x28 \\xe2\\x82 \\xf0\\x9f\\x98\\n', b'nul: \\x00.\\n')
write(1, b'the token is ' + secret[:9], secret[9:] + b', twice: ' + secret + secret + b'\\n')
write(2, b'x' * 65530 + secret + b'y' * 100000 + b'\\n')
write(1, ('é' * 100000).encode() + b'\\n', b'z' * 65536 + b'\\n', b'z' * 65537 + b'\\n')
for n in range(200):
    write(1, b'out %d\\n' % n) if n % 2 else write(2, b'err %d\\n' % n)
write(2, b'cut in the middle of \\xe2\\x82')
write(1, b'no newline at the end')
`

const MAX = 65_536

/** The expected log lines of the written bytes. It uses no code of the product. */
function expectedLines(bytes: Buffer): string[] {
  const text = new TextDecoder('utf-8', { ignoreBOM: true })
    .decode(bytes)
    .replaceAll('\0', '\uFFFD')
    .replaceAll(SECRET + SECRET, '***')
    .replaceAll(SECRET, '***')
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines.flatMap((line) => {
    const pieces: string[] = []
    let piece: string[] = []
    let size = 0
    for (const character of line) {
      const bytes = Buffer.byteLength(character)
      if (size + bytes > MAX) {
        pieces.push(piece.join(''))
        piece = []
        size = 0
      }
      piece.push(character)
      size += bytes
    }
    return [...pieces, piece.join('')]
  })
}

async function deploy(what: { target_ids: unknown[]; action_id: string; variables?: Record<string, string> }) {
  const { status, body } = await createWithRetries(api, what)
  expect(status).toBe(201)
  return body.deployment_id as string
}

/** All matching lines, page by page. */
async function search(id: string, filter: Record<string, string>): Promise<LogEntry[]> {
  const found: LogEntry[] = []
  for (let from = '0'; ; ) {
    const query = new URLSearchParams({ ...filter, from })
    const { status, body, headers } = await api.get<LogEntry[]>(`/deployments/${id}/logs/history?${query}`)
    expect(status).toBe(200)
    found.push(...body)
    from = headers.get('x-log-next') ?? ''
    if (from === headers.get('x-log-lines')) return found
  }
}

describe.each(['local', 'ssh'])('over %s', (kind) => {
  test('history and stream clients get each byte that a command wrote, after masking', async () => {
    const folder = path.join(suite.folder, `written-${kind}`)
    const action_id = await createAction(api, {
      interpreter: 'python3',
      script: PROGRAM,
      variables: [{ name: 'token', sensitive: true }, { name: 'folder' }],
    })
    const id = await deploy({ action_id, target_ids: [targets[kind]], variables: { token: SECRET, folder } })
    const watched = readStream(await openLogStream(suite, api, id))
    expect(await deploymentEnd(api, id)).toMatchObject({ state: 'success' })
    const history = await logHistory(api, id)
    const written = (stream: 'stdout' | 'stderr') => expectedLines(readFileSync(`${folder}.${stream}`))
    const logged = (stream: 'stdout' | 'stderr') => history.flatMap((line) => line[stream] ?? [])
    expect(logged('stdout')).toEqual(written('stdout'))
    expect(logged('stderr')).toEqual(written('stderr'))
    expect(history.map(({ metadata }) => metadata.seq)).toEqual(history.map((_, n) => n))
    const times = history.map(({ timestamp }) => Date.parse(timestamp))
    expect(times).toEqual([...times].sort((a, b) => a - b))
    const split = (line: LogEntry) => (line.metadata as { split?: boolean }).split === true
    expect(history.filter(split).length).toBe(3 + 4 + 2)
    expect(await search(id, { search: 'THE TOKEN IS ***' })).toEqual(
      history.filter(({ message }) => /token is/.test(message)),
    )
    expect(await search(id, { search: SECRET })).toEqual([])
    expect(await search(id, { search: 'Red and Green' })).toHaveLength(1)
    expect(await search(id, { stream: 'stderr', limit: '50' })).toEqual(history.filter(({ stderr }) => stderr !== null))
    const stream = (await watched).filter(({ event }) => event === 'log').map(({ data }) => data.log)
    expect(stream.map(({ message, metadata }) => [metadata.seq, message])).toEqual(
      history.map(({ message, metadata }) => [metadata.seq, message]),
    )
  })
})

interface Result {
  id: string
  target_id: string
  status: string
  exit_code?: number
  started_at: string
  completed_at: string
}

test('each command result appears once when its command ends, ordered by start, during and after the deployment', async () => {
  const target_ids = [targets['local'], targets['ssh'], await createLocalTarget(api)]
  const quick = await createAction(api, {
    script: '[ "$SLIPWAY_TARGET_NAME" = over-ssh ] && sleep 0.5; sleep 0.3; echo quick',
  })
  const flaky = await createAction(api, {
    script: '[ "$SLIPWAY_ATTEMPT" -gt 0 ] && [ "$SLIPWAY_TARGET_NAME" != over-ssh ]',
    max_retries: 1,
  })
  const sequence_id = await createSequence(api, [quick, flaky, quick])
  const { body } = await api.post('/deployments', {
    sequence_id,
    target_ids,
    target_mode: 'parallel',
    failure_strategy: 'continue_on_failure',
  })
  const id: string = body.deployment_id
  const seen: Result[][] = []
  const ended = deploymentEnd(api, id)
  let over = false
  void ended.finally(() => {
    over = true
  })
  while (!over) {
    const { body: results } = await api.get<Result[]>(`/deployments/${id}/analysis`)
    seen.push(results)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const { plan } = await ended
  const { body: last } = await api.get<Result[]>(`/deployments/${id}/analysis`)
  for (const results of [...seen, last]) {
    const starts = results.map(({ started_at }) => Date.parse(started_at))
    expect(starts).toEqual([...starts].sort((a, b) => a - b))
    expect(new Set(results.map((result) => result.id)).size).toBe(results.length)
  }
  // Results do not change after they appear.
  for (const results of seen) expect(last).toEqual(expect.arrayContaining(results))
  expect(seen.some((results) => results.length > 0 && results.length < last.length)).toBe(true)
  type Step = { id: string; state: string; exit_code: number | null }
  const ran = (plan.steps as Step[]).filter(({ state }) => state !== 'skipped')
  expect(ran).toHaveLength(8)
  expect(last.map((result) => [result.id, result.status, result.exit_code]).sort()).toEqual(
    ran.map((step) => [step.id, step.state, step.exit_code]).sort(),
  )
})
