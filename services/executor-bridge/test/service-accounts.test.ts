import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { createServiceAccounts, type ServiceAccountRules } from '../src/kubernetes/service-accounts.ts'
import { joinBody, postJoin, startBridgeWithDatabase } from './setup.ts'

const AUDIENCE = 'slipway'
const ACCOUNT = 'slipway/orchestration-instance'
const folder = mkdtempSync(path.join(tmpdir(), 'slipway-cluster-'))
const tokenFile = path.join(folder, 'token')

type KeyPair = Awaited<ReturnType<typeof generateKeyPair>>
let keys: { cluster: KeyPair; stranger: KeyPair }
let server: Server
let issuer: string
/** How the API server of this test answers. */
let cluster: { keys: KeyPair[]; isUp: boolean; issuer: string; keysUrl: string; seen: IncomingMessage[] }

beforeAll(async () => {
  const make = () => generateKeyPair('RS256', { extractable: true })
  keys = { cluster: await make(), stranger: await make() }
  writeFileSync(tokenFile, 'token-of-the-bridge\n')
  server = createServer(async (request, response) => {
    cluster.seen.push(request)
    if (!cluster.isUp) return void response.writeHead(500).end('down')
    response.setHeader('content-type', 'application/json')
    if (request.url === '/.well-known/openid-configuration') {
      return void response.end(JSON.stringify({ issuer: cluster.issuer, jwks_uri: cluster.keysUrl }))
    }
    const jwks = await Promise.all(
      cluster.keys.map(async ({ publicKey }) => ({
        ...(await exportJWK(publicKey)),
        kid: kidOf(publicKey),
        alg: 'RS256',
      })),
    )
    response.end(JSON.stringify({ keys: jwks }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true })
})
beforeEach(() => {
  cluster = { keys: [keys.cluster], isUp: true, issuer, keysUrl: `${issuer}/openid/v1/jwks`, seen: [] }
})

const kidOf = (publicKey: KeyPair['publicKey']) => (publicKey === keys.cluster.publicKey ? 'cluster' : 'stranger')
const accounts = (rules: Partial<ServiceAccountRules> = {}) =>
  createServiceAccounts({ issuer, audience: AUDIENCE, accounts: [ACCOUNT], ...rules })

const claims = (more: Record<string, unknown> = {}): JWTPayload => ({
  iss: issuer,
  aud: [AUDIENCE],
  sub: 'system:serviceaccount:slipway:orchestration-instance',
  'kubernetes.io': { namespace: 'slipway', pod: { name: 'instance-0', uid: 'u' } },
  exp: Math.floor(Date.now() / 1_000) + 600,
  ...more,
})
const sign = (payload: JWTPayload, { pair = keys.cluster, kid = 'cluster' }: { pair?: KeyPair; kid?: string } = {}) =>
  new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid }).sign(pair.privateKey)
const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('a token of a pod', () => {
  test('identifies the service account and the pod', async () => {
    expect(await accounts().identify(await sign(claims()))).toEqual({ account: ACCOUNT, pod: 'instance-0' })
  })

  test('is verified with keys at a given URL, without discovery', async () => {
    const given = accounts({ keysUrl: `${issuer}/openid/v1/jwks` })
    expect(await given.identify(await sign(claims()))).toMatchObject({ pod: 'instance-0' })
    expect(cluster.seen.map(({ url }) => url)).toEqual(['/openid/v1/jwks'])
  })

  test('is verified with keys that the bridge reads with its own token', async () => {
    await accounts({ tokenFile }).identify(await sign(claims()))
    expect(cluster.seen.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer token-of-the-bridge',
      'Bearer token-of-the-bridge',
    ])
  })

  test('is verified with keys that are read once', async () => {
    const judge = accounts()
    for (let n = 0; n < 5; n += 1) await judge.identify(await sign(claims()))
    expect(cluster.seen).toHaveLength(2)
  })
})

describe('a token is refused', () => {
  const refusedWith = async (token: string, rules: Partial<ServiceAccountRules> = {}) =>
    accounts(rules)
      .identify(token)
      .then(
        () => 'accepted',
        ({ status, message }) => `${status} ${message}`,
      )
  const past = Math.floor(Date.now() / 1_000) - 60

  test.each<[string, Record<string, unknown>, RegExp]>([
    ['for another audience', { aud: ['https://kubernetes.default.svc'] }, /^401 .*not for the audience slipway/],
    ['for no audience', { aud: undefined }, /^401 .*not for the audience slipway/],
    ['of another issuer', { iss: 'https://elsewhere.example.com' }, /^401 .*not of the issuer/],
    ['that has expired', { exp: past }, /^401 .*has expired/],
    ['that never expires', { exp: undefined }, /^401 .*claim exp/],
    ['that is not valid yet', { nbf: past + 600 }, /^401 .*claim nbf/],
    [
      'of another service account',
      { sub: 'system:serviceaccount:slipway:default' },
      /^401 .*slipway\/default may not join/,
    ],
    ['of another namespace', { sub: 'system:serviceaccount:other:orchestration-instance' }, /^401 .*other\/orchestra/],
    ['of no service account', { sub: 'system:node:worker' }, /^401 .*may not join/],
    [
      'of more than a service account',
      { sub: 'system:serviceaccount:slipway:orchestration-instance:x' },
      /^401 .*may not/,
    ],
    ['without a subject', { sub: undefined }, /^401 .*claim sub/],
    ['that is bound to no pod', { 'kubernetes.io': { namespace: 'slipway' } }, /^401 .*not bound to a pod/],
    ['that is bound to a pod without a name', { 'kubernetes.io': { pod: { name: '' } } }, /^401 .*not bound to a pod/],
  ])('%s', async (_what, more, reason) => {
    expect(await refusedWith(await sign(claims(more)))).toMatch(reason)
  })

  test('that another key has signed, whether it names that key or one of the cluster', async () => {
    for (const kid of ['cluster', 'stranger']) {
      const token = await sign(claims(), { pair: keys.stranger, kid })
      expect(await refusedWith(token)).toMatch(/^401 .*not signed by a key of the cluster/)
    }
  })

  test('without a signature, or with a signature made with the public key', async () => {
    const none = `${encoded({ alg: 'none' })}.${encoded(claims())}.`
    const publicKey = await exportJWK(keys.cluster.publicKey)
    const shared = await new SignJWT(claims())
      .setProtectedHeader({ alg: 'HS256', kid: 'cluster' })
      .sign(Buffer.from(JSON.stringify(publicKey)))
    for (const token of [none, shared, 'a.b.c', 'eyJ', '']) {
      expect(await refusedWith(token)).toMatch(/^401 .*not signed by a key of the cluster/)
    }
  })

  test('with other claims under the signature of a valid token', async () => {
    const [head, , signature] = (await sign(claims())).split('.')
    const forged = [head, encoded(claims({ 'kubernetes.io': { pod: { name: 'instance-1' } } })), signature].join('.')
    expect(await refusedWith(forged)).toMatch(/^401 .*not signed by a key of the cluster/)
  })
})

describe('without the keys of the cluster', () => {
  test('each token is refused with 503; the same token is accepted after the keys are available again', async () => {
    cluster.isUp = false
    const judge = accounts()
    const token = await sign(claims())
    await expect(judge.identify(token)).rejects.toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' })
    cluster.isUp = true
    expect(await judge.identify(token)).toMatchObject({ pod: 'instance-0' })
  })

  test.each<[string, () => void]>([
    ['of another issuer', () => (cluster.issuer = 'https://elsewhere.example.com')],
    ['with keys at no URL', () => (cluster.keysUrl = 'nowhere')],
  ])('a discovery document %s is refused', async (_what, change) => {
    change()
    await expect(accounts().identify(await sign(claims()))).rejects.toMatchObject({ status: 503 })
  })

  test('the refusal names a missing CA file', async () => {
    await expect(accounts({ caFile: '/nonexistent/ca.crt' }).identify(await sign(claims()))).rejects.toMatchObject({
      status: 503,
      message: expect.stringContaining('/nonexistent/ca.crt'),
    })
  })
})

test('a pod joins with its own token and not with the token of another pod', async () => {
  const bridge = await startBridgeWithDatabase()
  try {
    bridge.bridge.serviceAccounts = accounts()
    const join = async (payload: JWTPayload) =>
      (await postJoin(bridge, await sign(payload), joinBody({ name: 'instance-0' }))).status
    const other = { namespace: 'slipway', pod: { name: 'instance-1' } }
    expect(await join(claims({ 'kubernetes.io': other }))).toBe(403)
    expect(await join(claims({ aud: 'elsewhere' }))).toBe(401)
    expect(await join(claims())).toBe(201)
    const { rows } = await bridge.database.query(
      `SELECT actor_name, details ->> 'outcome' AS outcome FROM audit_records WHERE action = 'instance.join' ORDER BY number`,
    )
    expect(rows).toEqual([
      { actor_name: `service account ${ACCOUNT}`, outcome: 'refused' },
      { actor_name: null, outcome: 'refused' },
      { actor_name: `service account ${ACCOUNT}`, outcome: null },
    ])
  } finally {
    await bridge.close()
  }
})
