import fs from 'node:fs'
import http, { type RequestListener, type Server } from 'node:http'
import https from 'node:https'
import net, { type AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { makeCertificates, type TestCertificates } from '@slipway/testing'
import { runSlipway } from './slipway.ts'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-network-'))
const servers: Server[] = []
let certificates: TestCertificates
let secure: string

async function listen(server: Server): Promise<number> {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

const answerUser: RequestListener = (request, response) => {
  const user = { username: 'ada', email: 'ada@example.com', roles: [], permissions: [], last_login_at: null }
  const isKnown = request.url === '/api/v1/auth/me'
  response.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json', 'x-request-id': 'r' })
  response.end(JSON.stringify(isKnown ? { ...user, display_name: 'Ada' } : {}))
}

/** A proxy that opens tunnels, and the hosts of its requests. */
async function startProxy(): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = []
  const proxy = http.createServer((_, response) => response.writeHead(500).end())
  proxy.on('connect', (request, socket) => {
    asked.push(String(request.url))
    const { hostname, port } = new URL(`tunnel://${request.url}`)
    const upstream = net.connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      upstream.pipe(socket).pipe(upstream)
    })
    upstream.on('error', () => socket.destroy())
    socket.on('error', () => upstream.destroy())
  })
  return { url: `http://127.0.0.1:${await listen(proxy)}`, asked }
}

beforeAll(async () => {
  certificates = makeCertificates()
  const { certFile, keyFile } = certificates
  const server = https.createServer({ cert: fs.readFileSync(certFile), key: fs.readFileSync(keyFile) }, answerUser)
  secure = `https://127.0.0.1:${await listen(server)}`
})

afterAll(() => {
  for (const server of servers) {
    server.close()
    server.closeAllConnections()
  }
  certificates.remove()
  fs.rmSync(folder, { recursive: true })
})

test('a certificate of an unknown authority is refused, and the error names the option', async () => {
  const { code, stderr } = await runSlipway(secure, ['whoami'])
  expect(stderr).toContain('--ca-file FILE')
  expect(code).toBe(6)
})

test.each([
  ['by --ca-file', () => ({ args: ['--ca-file', certificates.caFile], env: {} })],
  ['by SLIPWAY_CA_FILE', () => ({ args: [], env: { SLIPWAY_CA_FILE: certificates.caFile } })],
])('an authority given %s is trusted', async (_, given) => {
  const { args, env } = given()
  const { code, stdout, stderr } = await runSlipway(secure, ['whoami', ...args], { env })
  expect(stderr).toBe('')
  expect(stdout).toContain('ada@example.com')
  expect(code).toBe(0)
})

test.each([
  ['no file', 'cannot be read', path.join(folder, 'missing.pem')],
  ['no certificate', 'holds no certificate', import.meta.filename],
])('a CA file with %s is refused', async (_, message, file) => {
  const { code, stderr } = await runSlipway(secure, ['whoami', '--ca-file', file])
  expect(stderr).toContain(message)
  expect(code).toBe(2)
})

test('calls use the proxy of HTTPS_PROXY except for the hosts of NO_PROXY', async () => {
  const proxy = await startProxy()
  const env = { HTTPS_PROXY: proxy.url, SLIPWAY_CA_FILE: certificates.caFile }
  const through = await runSlipway(secure, ['whoami'], { env })
  expect(through).toMatchObject({ code: 0, stderr: '' })
  expect(proxy.asked).toEqual([new URL(secure).host])
  const around = await runSlipway(secure, ['whoami'], { env: { ...env, NO_PROXY: '127.0.0.1' } })
  expect(around).toMatchObject({ code: 0, stderr: '' })
  expect(proxy.asked).toHaveLength(1)
})

test('a proxy that does not answer is named, without its password', async () => {
  const env = { HTTPS_PROXY: 'http://ada:secret@127.0.0.1:1', SLIPWAY_CA_FILE: certificates.caFile }
  const { code, stderr } = await runSlipway(secure, ['whoami', '--request-timeout', '5s'], { env })
  expect(stderr).toContain('\n  calls go through the proxy http://127.0.0.1:1 of HTTPS_PROXY\n')
  expect(stderr).not.toContain('secret')
  expect(code).toBe(6)
})

test('the error names HTTPS_PROXY if it is no address', async () => {
  const { code, stderr } = await runSlipway(secure, ['whoami'], { env: { HTTPS_PROXY: 'proxy example' } })
  expect(stderr).toContain('HTTPS_PROXY is not the address of a proxy')
  expect(code).toBe(2)
})

test.each([
  ['a page', 200, 'text/html', '<html></html>'],
  ['a page that says it has nothing', 404, 'text/html', '<html></html>'],
  ['JSON of another server', 404, 'application/json', '{"message":"Not Found"}'],
  ['other JSON of another server', 200, 'application/json', '{"status":"ok"}'],
])('%s is reported as an answer of another server than Slipway', async (_, status, type, body) => {
  const port = await listen(
    http.createServer((_request, response) => response.writeHead(status, { 'content-type': type }).end(body)),
  )
  const { code, stderr } = await runSlipway(`http://127.0.0.1:${port}`, ['whoami'])
  expect(stderr).toContain(`answers, but is not Slipway (status ${status}, ${type})`)
  expect(code).toBe(6)
})

test('a call ends after --request-timeout', async () => {
  const port = await listen(http.createServer(() => {}))
  const { code, stderr } = await runSlipway(`http://127.0.0.1:${port}`, ['whoami', '--request-timeout', '50ms'])
  expect(stderr).toContain('does not answer')
  expect(stderr).toContain('timeout')
  expect(code).toBe(6)
})
