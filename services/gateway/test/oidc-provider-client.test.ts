import { afterEach, describe, expect, test } from '@jest/globals'
import { createLogger } from '@slipway/runtime'
import { keptLog, type RouteHandler, sendJson, startFakeServer } from '@slipway/testing'
import { LoginRefused } from '../src/login-providers/login-refused.ts'
import { createProviderClients } from '../src/login-providers/provider-client.ts'
import type { Provider } from '../src/login-providers/providers-file.ts'

const DISCOVERY = '/.well-known/openid-configuration'
const logger = createLogger({ service: 'test', level: 'error', stream: process.stderr })

let servers: Awaited<ReturnType<typeof startFakeServer>>[] = []
afterEach(async () => {
  await Promise.all(servers.map((server) => server.close()))
  servers = []
})

/** A provider whose discovery answers so. */
async function providerWith(discovery: RouteHandler, log = logger) {
  const server = await startFakeServer({ [`GET ${DISCOVERY}`]: discovery })
  servers.push(server)
  const provider: Provider = {
    id: 'fake',
    name: 'Fake',
    issuer: server.url,
    client_id: 'slipway',
    client_secret: 'secret',
    scopes: ['openid'],
    rules: [],
  }
  const clients = createProviderClients({ logger: log, publicUrl: 'https://slipway.test' })
  const begin = () => clients.authorizationUrl(provider, { nonce: 'n', code_verifier: 'v'.repeat(43) })
  const outcome = () =>
    begin().then(
      ({ origin }) => origin,
      (error: unknown) => (error instanceof LoginRefused ? error.loginError : error),
    )
  return { outcome, url: server.url, calls: () => server.count(`GET ${DISCOVERY}`) }
}

const metadataOf = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/auth`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/jwks`,
})
const issuerOf = (host: string | undefined) => `http://${host}`

describe('a provider counts as away', () => {
  test.each<[string, RouteHandler]>([
    ['that answers more than 1 MiB', (_request, response) => sendJson(response, 200, 'x'.repeat(1024 * 1024))],
    ['that answers an error', (_request, response) => sendJson(response, 503, {})],
    ['that answers no JSON', (_request, response) => response.end('<html>')],
    ['that closes the connection', (_request, response) => response.destroy()],
    [
      'that leads elsewhere',
      (_request, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    ],
  ])('%s', async (_name, discovery) => {
    const { outcome } = await providerWith(discovery)
    expect(await outcome()).toBe('provider_unavailable')
  })

  test.each<[string, (issuer: string) => string]>([
    ['of another host', () => 'http://127.0.0.1:1'],
    ['with a slash at the end', (issuer) => `${issuer}/`],
    ['of every directory', () => 'https://login.microsoftonline.com/{tenantid}/v2.0'],
  ])('that has an issuer %s, and the log names it', async (_name, otherThan) => {
    const { logger, written } = keptLog()
    const { outcome, url } = await providerWith(
      ({ headers }, response) => sendJson(response, 200, metadataOf(otherThan(issuerOf(headers.host)))),
      logger,
    )
    expect(await outcome()).toBe('provider_unavailable')
    expect(JSON.parse(written())).toMatchObject({
      provider: 'fake',
      problem: `the provider has the issuer ${otherThan(url)}: the file of the providers must name exactly this one`,
    })
  })

  test('and is not asked again by each login', async () => {
    const { outcome, calls } = await providerWith((_request, response) => sendJson(response, 503, {}))
    const outcomes = await Promise.all(Array.from({ length: 20 }, outcome))
    expect([...new Set(outcomes)]).toEqual(['provider_unavailable'])
    expect(calls()).toBe(1)
  })
})

test('logins share what a provider says of itself', async () => {
  const { outcome, calls } = await providerWith(({ headers }, response) =>
    sendJson(response, 200, metadataOf(issuerOf(headers.host))),
  )
  const outcomes = await Promise.all(Array.from({ length: 20 }, outcome))
  expect(outcomes).toEqual(Array(20).fill(outcomes[0]))
  expect(outcomes[0]).toMatch(/^http:\/\/127\.0\.0\.1:/)
  expect(calls()).toBe(1)
})
