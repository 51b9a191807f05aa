import { execFile } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import fs from 'node:fs'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { makeCertificates, repositoryRoot, type TestCertificates } from '@slipway/testing'

// On a busy machine, a process takes seconds to start.
interface Secret {
  metadata: { resourceVersion: string }
  data?: Record<string, string>
}

let secrets: Map<string, Secret>
let calls: string[]
let server: https.Server
let certificates: TestCertificates
let folder: string
/** Called between the read and the write of a Secret. */
let meanwhile: () => void

beforeAll(async () => {
  certificates = makeCertificates()
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-account-'))
  fs.writeFileSync(path.join(folder, 'token'), 'token-of-the-job\n')
  fs.writeFileSync(path.join(folder, 'namespace'), 'slipway')
  fs.symlinkSync(path.join(repositoryRoot, 'deploy/certificates.sh'), path.join(folder, 'slipway-certificates'))
  // A server with the parts of the Kubernetes API that the command uses.
  const pair = { cert: fs.readFileSync(certificates.certFile), key: fs.readFileSync(certificates.keyFile) }
  server = https.createServer(pair, async (request, response) => {
    calls.push(`${request.method} ${request.url}`)
    if (request.method === 'PATCH') meanwhile()
    const secret = secrets.get(request.url?.split('/').at(-1) ?? '')
    if (request.headers.authorization !== 'Bearer token-of-the-job') return response.writeHead(401).end()
    if (!secret) return response.writeHead(403).end('{}')
    if (request.method === 'GET') return response.end(JSON.stringify(secret))
    const change = JSON.parse(await text(request)) as Secret
    if (change.metadata.resourceVersion !== secret.metadata.resourceVersion) return response.writeHead(409).end('{}')
    secret.data = { ...secret.data, ...change.data }
    secret.metadata = { resourceVersion: `${Number(secret.metadata.resourceVersion) + 1}` }
    return response.end(JSON.stringify(secret))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => {
  server.close()
  server.closeAllConnections()
  certificates.remove()
  fs.rmSync(folder, { recursive: true })
})
beforeEach(() => {
  calls = []
  meanwhile = () => {}
  secrets = new Map(
    ['slipway-bridge-ca', 'slipway-bridge-tls'].map((name) => [name, { metadata: { resourceVersion: '1' } }]),
  )
})

function run(env: Record<string, string> = {}, names = ['executor-bridge bridge.example.com']) {
  const command = path.join(repositoryRoot, 'services/executor-bridge/dist/certificates/command.js')
  return new Promise<{ code: number; stderr: string }>((resolve) => {
    execFile(
      process.execPath,
      [command, '--service-account', folder, ...names],
      {
        env: {
          PATH: `${folder}:${process.env['PATH']}`,
          NODE_EXTRA_CA_CERTS: certificates.caFile,
          KUBERNETES_SERVICE_HOST: '127.0.0.1',
          KUBERNETES_SERVICE_PORT: String((server.address() as AddressInfo).port),
          ...env,
        },
      },
      (error, _stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stderr }),
    )
  })
}

const value = (name: string, key: string) => Buffer.from(secrets.get(name)?.data?.[key] ?? '', 'base64').toString()
const certificate = () => new X509Certificate(value('slipway-bridge-tls', 'tls.crt'))

test('fills empty Secrets and calls the API for no other Secret', async () => {
  expect((await run()).code).toBe(0)
  expect(Object.keys(secrets.get('slipway-bridge-ca')?.data ?? {}).sort()).toEqual(['ca.crt', 'ca.key'])
  expect(Object.keys(secrets.get('slipway-bridge-tls')?.data ?? {}).sort()).toEqual(['ca.crt', 'tls.crt', 'tls.key'])
  expect(certificate().subjectAltName).toBe('DNS:executor-bridge, DNS:bridge.example.com')
  expect(certificate().verify(new X509Certificate(value('slipway-bridge-tls', 'ca.crt')).publicKey)).toBe(true)
  const path = '/api/v1/namespaces/slipway/secrets'
  expect(calls).toEqual([
    `GET ${path}/slipway-bridge-ca`,
    `GET ${path}/slipway-bridge-tls`,
    `PATCH ${path}/slipway-bridge-ca`,
    `PATCH ${path}/slipway-bridge-tls`,
  ])
})

test('keeps valid certificates, renews the other ones, and keeps a former CA trusted', async () => {
  await run()
  const [authority, first] = [value('slipway-bridge-ca', 'ca.crt'), certificate().serialNumber]
  await run()
  expect(certificate().serialNumber).toBe(first)
  // Another name needs another certificate.
  await run({}, ['executor-bridge'])
  const second = certificate()
  expect(second.subjectAltName).toBe('DNS:executor-bridge')
  expect(value('slipway-bridge-ca', 'ca.crt')).toBe(authority)
  // Less than a third of its days is left.
  await run({ SLIPWAY_CERTIFICATE_DAYS: '300' }, ['executor-bridge'])
  expect(certificate().serialNumber).not.toBe(second.serialNumber)
  secrets.set('slipway-bridge-ca', { metadata: { resourceVersion: '9' } })
  await run({}, ['executor-bridge'])
  expect(value('slipway-bridge-ca', 'ca.crt')).not.toBe(authority)
  expect(value('slipway-bridge-tls', 'ca.crt')).toBe(`${authority}${value('slipway-bridge-ca', 'ca.crt')}`)
})

test('fails without overwriting a Secret that changed after it was read', async () => {
  meanwhile = () =>
    secrets.set('slipway-bridge-ca', { metadata: { resourceVersion: '5' }, data: { 'ca.key': 'b3RoZXI=' } })
  const { code, stderr } = await run()
  expect(code).toBe(1)
  expect(stderr).toContain('the API server answers 409 for the Secret slipway-bridge-ca')
  expect(value('slipway-bridge-ca', 'ca.key')).toBe('other')
})

test('names the Secret that it may not read', async () => {
  secrets.delete('slipway-bridge-tls')
  const { code, stderr } = await run()
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'certificates: the API server answers 403 for the Secret slipway-bridge-tls\n',
  })
})

test('sends no request to an API server with a certificate of another CA', async () => {
  const other = makeCertificates()
  const { code } = await run({ NODE_EXTRA_CA_CERTS: other.caFile })
  other.remove()
  expect({ code, calls }).toEqual({ code: 1, calls: [] })
})
