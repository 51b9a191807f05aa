import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  type Api,
  connectTo,
  createAction,
  createLocalTarget,
  deploymentEnd,
  logHistory,
  loginToSuite,
  type Sshd,
  type Suite,
  startSshd,
  startSuite,
} from '@slipway/testing'

const MIB = 1024 * 1024

let sshd: Sshd
let suite: Suite
let database: Awaited<ReturnType<typeof connectTo>>
let api: Api

beforeAll(async () => {
  sshd = await startSshd()
  suite = await startSuite()
  database = await connectTo(suite.databaseUrl)
  api = await loginToSuite(suite)
})
afterAll(async () => {
  await database.end()
  await suite.stop()
  await sshd.stop()
})

const authorization = () => ({ authorization: `Bearer ${api.token}` })

async function upload(body: NonNullable<RequestInit['body']>) {
  const options = { method: 'POST', headers: authorization(), body, duplex: 'half' }
  const response = await fetch(`${suite.url}/api/v1/content`, options as RequestInit)
  expect(response.status).toBe(201)
  return (await response.json()) as { id: string; size: number }
}

/** The peak memory of the gateway so far. */
const peakBytes = () => {
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${suite.pid('gateway')}/status`, 'utf8')) ?? []
  return Number(kib) * 1024
}

test('the gateway streams a large upload and its download without keeping them in memory', async () => {
  const size = 256 * MIB
  const piece = randomBytes(MIB)
  const hash = createHash('sha256')
  const before = peakBytes()
  async function* pieces() {
    for (let sent = 0; sent < size; sent += piece.length) {
      piece.writeUInt32BE(sent / MIB)
      hash.update(piece)
      yield Uint8Array.from(piece)
    }
  }
  const content = await upload(ReadableStream.from(pieces()))
  expect(content).toEqual({ id: hash.digest('hex'), size })
  const response = await fetch(`${suite.url}/api/v1/content/${content.id}`, { headers: authorization() })
  const received = createHash('sha256')
  for await (const part of response.body ?? []) received.update(part)
  expect(received.digest('hex')).toBe(content.id)
  expect((peakBytes() - before) / MIB).toBeLessThan(128)
})

const deploy = async (request: object) => {
  const { status, body } = await api.post('/deployments', request)
  expect(status).toBe(201)
  const ended = await deploymentEnd(api, body.deployment_id)
  const lines = (await logHistory(api, body.deployment_id)).map(({ message }) => message as string)
  return { ended, lines, id: body.deployment_id as string }
}

test('files reach local and ssh targets unchanged, from the cache or, with bypass_cache, from the store', async () => {
  const bytes = randomBytes(3 * MIB + 5)
  const { id: content } = await upload(bytes)
  const local = await createLocalTarget(api)
  const { body: remote } = await api.post('/targets', { name: 'remote', connection: sshd.connection })
  const action_id = await createAction(api, {
    script: `sha256sum app/data.bin; stat -c 'mode %a' app/data.bin; echo "over \${SSH_CONNECTION:+ssh}"; false`,
    rollback: 'sha256sum <app/data.bin',
    files: [{ content, path: 'app/data.bin', mode: '0750' }],
  })
  const request = {
    action_id,
    target_ids: [local, remote.id],
    failure_strategy: 'continue_on_failure',
    rollback_strategy: 'all_executed',
  }
  const first = await deploy(request)
  expect(first.ended.state).toBe('rolled_back')
  expect(first.lines.filter((line) => line === `${content}  app/data.bin`)).toHaveLength(2)
  expect(first.lines.filter((line) => line === 'mode 750')).toHaveLength(2)
  expect(first.lines.filter((line) => line === `${content}  -`)).toHaveLength(2)
  expect(first.lines).toContain('over ssh')

  // Used content cannot be deleted. Deleting its reference makes the store refuse it, as if it were lost.
  await expect(database.query('DELETE FROM contents WHERE id = $1', [content])).rejects.toThrow(/foreign key/)
  await database.query('DELETE FROM source_contents WHERE content_id = $1', [content])
  const cached = await deploy(request)
  expect(cached.lines.filter((line) => line === `${content}  app/data.bin`)).toHaveLength(2)
  const fresh = await deploy({ ...request, rollback_strategy: 'none', bypass_cache: true })
  expect(fresh.ended.plan.steps.map((step: { error_message: string }) => step.error_message)).toEqual(
    Array(2).fill('the file app/data.bin could not be fetched: No run of this instance uses such content'),
  )
  const again = await api.post(`/deployments/${fresh.id}/redeploy`, {})
  const redeployed = await deploymentEnd(api, again.body.id)
  expect(redeployed.plan.steps.map((step: { error_message: string }) => step.error_message)).toEqual(
    Array(2).fill('exit code 1'),
  )
})
