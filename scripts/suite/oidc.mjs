// `make run OIDC=1` and `make up OIDC=1`: a login provider on this machine with two users, to try the login in a browser.
import fs from 'node:fs'
import path from 'node:path'
import { root, stateDir } from './settings.mjs'

const ID = 'test'
const HOST = 'localhost'
// Everybody knows it, and the provider listens on this machine only.
const CLIENT = { client_id: 'slipway', client_secret: 'slipway-development' }
const providerFile = path.join(stateDir, 'oidc-provider.json')
const gatewayFile = path.join(stateDir, 'oidc.json')

const person = (username, name, groups) => ({
  username,
  password: `password-of-${username}`,
  claims: { name, groups, preferred_username: username, email: `${username}@example.com`, email_verified: true },
})
const USERS = [person('ada', 'Ada Lovelace', ['platform']), person('grace', 'Grace Hopper', ['everybody'])]
const RULES = [
  { claim: 'groups', value: 'platform', roles: ['admin'] },
  { claim: 'groups', value: 'everybody', roles: ['user'] },
]

export const isOidcWanted = () => process.env.OIDC === '1'

/** The provider as a process of the suite. */
export const oidcService = (port) => ({
  name: 'oidc-provider',
  main: path.join(root, 'tests/support/dist/oidc/main.js'),
  env: { OIDC_PROVIDER_FILE: providerFile },
  url: `http://${HOST}:${port}`,
  ready: `http://${HOST}:${port}/.well-known/openid-configuration`,
  listens: [{ port, variable: 'SLIPWAY_OIDC_PORT', host: HOST }],
})

/** What the gateway is told about the provider. */
export const oidcSettings = (base) => ({ SLIPWAY_OIDC_FILE: gatewayFile, SLIPWAY_PUBLIC_URL: base })

/** Writes the files that the provider and the gateway read. */
export function writeOidcFiles(port, base) {
  const redirect_uris = [`${base}/api/v1/auth/oidc/${ID}/callback`]
  const provider = { host: HOST, port, users: USERS, clients: [{ ...CLIENT, redirect_uris }] }
  const entry = { id: ID, name: 'Test provider', issuer: `http://${HOST}:${port}`, ...CLIENT, rules: RULES }
  fs.mkdirSync(stateDir, { recursive: true })
  fs.writeFileSync(providerFile, JSON.stringify(provider))
  fs.writeFileSync(gatewayFile, JSON.stringify({ providers: [entry] }))
}

/** Who can log in, and where a login begins: for people. */
export function oidcWelcome(base) {
  const users = USERS.map(({ username, password, claims }) => {
    const { roles } = RULES.find(({ value }) => claims.groups.includes(value)) ?? { roles: ['no role'] }
    return `  ${username.padEnd(9)} ${password.padEnd(20)} becomes ${roles.join(', ')}`
  })
  return `
Log in with the test provider at ${base}/api/v1/auth/oidc/${ID}/start
${users.join('\n')}
`
}
