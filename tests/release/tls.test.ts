import fs from 'node:fs'
import tls from 'node:tls'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  type AgentProcess,
  type Api,
  createAction,
  createLocalTarget,
  deploymentEnd,
  enrolAgent,
  logHistory,
  loginToSuite,
  makeCertificates,
  type Suite,
  startAgent,
  startSuite,
  waitFor,
} from '@slipway/testing'

let suite: Suite
let api: Api
let agent: AgentProcess

beforeAll(async () => {
  suite = await startSuite({ tls: true })
  api = await loginToSuite(suite)
})
afterAll(async () => {
  await suite?.stop()
  await agent?.remove()
})

const trust = () => ({ SLIPWAY_BRIDGE_CA_FILE: suite.certificates?.caFile ?? '' })

async function outputOn(target: string, definition: object): Promise<{ state: string; lines: string[] }> {
  const action_id = await createAction(api, definition)
  const { body } = await api.post('/deployments', { action_id, target_ids: [target] })
  const { state } = await deploymentEnd(api, body.deployment_id)
  const lines = (await logHistory(api, body.deployment_id)).map(({ message }) => message)
  return { state, lines }
}

const agentTarget = async (name: string) => {
  const { body } = await api.post('/targets', { name, connection: { type: 'agent' } })
  const { body: granted } = await api.post(`/targets/${body.id}/agent-token`)
  return { id: body.id as string, token: granted.token as string }
}

test('an instance joins and runs a deployment with content over TLS', async () => {
  expect(suite.bridgeUrl).toMatch(/^https:/)
  const { body: instances } = await api.get('/admin/instances')
  expect(instances.data).toEqual([expect.objectContaining({ status: 'online' })])
  const { body: content } = await api.post('/content', 'from the store')
  const files = [{ content: content.id, path: 'file' }]
  expect(await outputOn(await createLocalTarget(api), { script: 'cat file', files })).toEqual({
    state: 'success',
    lines: ['from the store'],
  })
})

test('an agent enrols, sends heartbeats and runs a command over TLS', async () => {
  const { id, token } = await agentTarget('db-1')
  agent = await startAgent({ bridgeUrl: suite.bridgeUrl, token, settings: trust() })
  const seenAt = async () => (await api.get(`/targets/${id}`)).body.last_seen_at
  await agent.end('SIGTERM')
  const seenBefore = await seenAt()
  // An agent sends its first heartbeat when it starts, and further ones after half a minute.
  await agent.start()
  await waitFor(async () => (await seenAt()) !== seenBefore, { what: 'a heartbeat' })
  expect(await outputOn(id, { script: 'echo through the agent' })).toEqual({
    state: 'success',
    lines: ['through the agent'],
  })
})

test('an agent that does not trust the CA does not enrol, and its token stays valid', async () => {
  const { token } = await agentTarget('db-2')
  const folder = fs.mkdtempSync(`${suite.folder}/agent-`)
  const settings = { bridgeUrl: suite.bridgeUrl, token }
  const stranger = await enrolAgent(settings, { folder, port: 1 })
  expect(stranger.code).toBe(1)
  expect(stranger.stderr).toContain("put the CA's certificate into the file that SLIPWAY_BRIDGE_CA_FILE names")
  const missing = await enrolAgent(
    { ...settings, settings: { SLIPWAY_BRIDGE_CA_FILE: '/nowhere' } },
    { folder, port: 1 },
  )
  expect(missing.stderr).toContain('SLIPWAY_BRIDGE_CA_FILE names /nowhere')
  expect((await enrolAgent({ ...settings, settings: trust() }, { folder, port: 1 })).code).toBe(0)
})

const serialOf = () =>
  new Promise<string>((resolve, reject) => {
    const { port } = new URL(suite.bridgeUrl)
    const socket = tls.connect({ port: Number(port), host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().serialNumber)
      socket.end()
    })
    socket.once('error', reject)
  })

test('the CA and the certificate can be replaced during a deployment without a restart', async () => {
  const { certificates } = suite
  if (!certificates) throw new Error('the suite has no certificates')
  const before = await serialOf()
  const target = await createLocalTarget(api)
  const running = outputOn(target, { script: 'for i in $(seq 60); do echo "line $i"; sleep 0.1; done' })
  const other = makeCertificates()
  try {
    // First the clients trust both CAs, as docs/operations.md describes.
    fs.appendFileSync(certificates.caFile, fs.readFileSync(other.caFile))
    fs.copyFileSync(other.certFile, certificates.certFile)
    fs.copyFileSync(other.keyFile, certificates.keyFile)
  } finally {
    other.remove()
  }
  await waitFor(async () => (await serialOf()) !== before, { what: 'the new certificate' })
  const { state, lines } = await running
  expect(state).toBe('success')
  expect(lines).toEqual(Array.from({ length: 60 }, (_, index) => `line ${index + 1}`))
  expect((await outputOn(target, { script: 'echo after' })).lines).toEqual(['after'])
  expect(suite.logOf('orchestration-instance')).not.toContain('BridgeTlsError')
})

test('an instance that does not trust the bridge logs the remedy, is not ready, and recovers by itself', async () => {
  const { certificates } = suite
  if (!certificates) throw new Error('the suite has no certificates')
  const trusted = fs.readFileSync(certificates.caFile)
  const other = makeCertificates()
  fs.copyFileSync(other.caFile, certificates.caFile)
  other.remove()
  const advice = "put the CA's certificate into the file that SLIPWAY_BRIDGE_CA_FILE names"
  await waitFor(() => suite.logOf('orchestration-instance').includes(advice), { what: 'the log line' })
  await waitFor(async () => !(await suite.isReady('orchestration-instance')), { what: 'the instance to be not ready' })
  fs.writeFileSync(certificates.caFile, trusted)
  await waitFor(() => suite.isReady('orchestration-instance'), { what: 'the instance to be ready again' })
  expect((await outputOn(await createLocalTarget(api), { script: 'echo again' })).lines).toEqual(['again'])
})
