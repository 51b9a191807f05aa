import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { type Api, loginToSuite } from './api.ts'
import { createLocalTarget } from './factories.ts'
import { makeLoginCheap, type Suite, startSuite } from './suite.ts'

/** Jest's workers inherit the variable from the process that starts the suite. */
const VARIABLE = 'SLIPWAY_TEST_SUITE'

/** What the tests of a file know of the suite that all files share. They may not stop its processes. */
export interface SharedSuite
  extends Pick<Suite, 'url' | 'bridgeUrl' | 'databaseUrl' | 'logStreams' | 'namespace' | 'admin'> {
  /** The file of the login providers. It has none until a test writes one. */
  providersFile: string
}

/** Starts the suite of tests/golden, once for the whole run. */
export async function startSharedSuite(): Promise<Suite> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-providers-'))
  const providersFile = path.join(folder, 'providers.json')
  fs.writeFileSync(providersFile, JSON.stringify({ providers: [] }))
  const suite = await startSuite({
    capacity: 20,
    env: { SLIPWAY_WEBHOOK_ALLOW_PRIVATE: 'true', SLIPWAY_DEVELOPMENT: 'true' },
    settingsOf: async (name): Promise<Record<string, string>> =>
      name === 'gateway' ? { SLIPWAY_OIDC_FILE: providersFile } : {},
  })
  const { url, bridgeUrl, databaseUrl, logStreams, namespace, admin } = suite
  const shared: SharedSuite = { url, bridgeUrl, databaseUrl, logStreams, namespace, admin, providersFile }
  process.env[VARIABLE] = JSON.stringify(shared)
  return {
    ...suite,
    async stop() {
      await suite.stop()
      fs.rmSync(folder, { recursive: true })
    },
  }
}

function sharedSuite(): SharedSuite {
  const shared = process.env[VARIABLE]
  if (shared === undefined) throw new Error('no suite runs: tests that share one belong into tests/golden')
  return JSON.parse(shared)
}

export interface TestTenant {
  suite: SharedSuite
  id: string
  /** The id of an environment of this tenant. */
  environment: string
  /** The API as the administrator of this tenant. */
  api: Api
  /** The login of the administrator of this tenant. */
  account: { email: string; password: string }
  /** The name of that administrator. */
  username: string
  /** The API as the administrator of the installation, for what no tenant may do. Other files share what it changes. */
  admin: Api
  /** Creates a local target of this tenant. Returns its id. */
  createLocalTarget(parts?: Record<string, unknown>): Promise<string>
}

/** Creates a new tenant of the shared suite, so that a test file sees only its own records. */
export async function openTenant(): Promise<TestTenant> {
  const suite = sharedSuite()
  const admin = await loginToSuite(suite)
  const create = async (path: string, body: Record<string, unknown>): Promise<string> => {
    const answer = await admin.post(path, body)
    if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body.id
  }

  const username = `tenant-${randomBytes(4).toString('hex')}`
  const login = { email: `${username}@example.com`, password: suite.admin.password }
  const id = await create('/tenants', { name: username })
  const [environment] = await Promise.all([
    create('/environments', { name: 'production', tenant_id: id }),
    create('/admin/users', { ...login, username, roles: ['admin'], tenant_id: id }),
  ])
  await makeLoginCheap(suite.databaseUrl, login.email)
  const api = await loginToSuite({ url: suite.url, admin: login })
  return {
    suite,
    id,
    environment,
    api,
    account: login,
    username,
    admin,
    createLocalTarget: (parts = {}) => createLocalTarget(admin, { tenant_id: id, ...parts }),
  }
}
