import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Broker } from '@slipway/broker'
import { type Envelope, OPERATIONS, type Operation, type OperationId, type ReplyEnvelope } from '@slipway/contracts'
import { SLIPWAY_VERSION, uuidv7 } from '@slipway/runtime'
import { addPending, keptLog, newPrivateKey, startTokenIssuer, type TokenIssuer, totp } from '@slipway/testing'
import { type OidcProvider, openBrowser, startOidcProvider } from '@slipway/testing/oidc'
import request from 'supertest'
import { addDeployment } from './deployment-rows.ts'
import { startOtherServices } from './other-services.ts'
import { ADMIN, addUser, startGateway, type TestGateway, UNKNOWN_ID } from './setup.ts'

/** The value of every secret that a caller can send. No record and no log may contain it. */
const SECRET = `planted-${randomBytes(12).toString('hex')}`
const PASSWORD = 'the-present-password'
const NOW = 1_700_000_000_000

const audited = Object.entries(OPERATIONS as Record<string, Operation>).filter(([, { audit }]) => audit !== undefined)

let gateway: TestGateway
let services: Broker
let issuer: TokenIssuer
let provider: OidcProvider
const ADA = { username: 'ada', password: 'password of ada', claims: {} }
const CALLBACK = 'https://slipway.test/api/v1/auth/oidc/acme/callback'
/** An API key of the administrator. */
let keyed: string
let key: { id: string; name: string }
const { logger, written } = keptLog()

beforeAll(async () => {
  provider = await startOidcProvider({
    users: [ADA],
    clients: [{ client_id: 'slipway', client_secret: SECRET, redirect_uris: [CALLBACK] }],
  })
  const configured = {
    id: 'acme',
    name: 'Acme',
    issuer: provider.issuer,
    client_id: 'slipway',
    client_secret: SECRET,
    scopes: ['openid'],
    rules: [],
    default_roles: ['user'],
  }
  gateway = await startGateway({
    codeClock: () => NOW,
    logger,
    providers: { all: () => [configured], stop() {} },
    webhookDestinations: { allowPrivate: true },
  })
  services = await startOtherServices(gateway, carryOut)
  issuer = await startTokenIssuer()
  const { api_key, full_key } = await made('/auth/api-keys', { name: name() })
  keyed = full_key
  key = { id: api_key.id, name: api_key.name }
})
afterAll(async () => {
  issuer.close()
  await services.close()
  await gateway.close()
  await provider.close()
})

const commands = new Map<string | null, Envelope>()
const RESULT_IDS = ['deployment_id', 'pending_request_id', 'instance_id', 'delivery_id'] as const

/** Carries a command out like the other services, except for its audit record. */
async function carryOut(message: Envelope): Promise<ReplyEnvelope> {
  commands.set(message.request_id, message)
  const body = message.body as Record<string, string>
  if (message.type === 'plan.create' || message.type === 'plan.redeploy') {
    const deployment_id = await addDeployment(gateway.database, { id: body['command_id'] ?? '' })
    return { ok: true, result: { outcome: 'started', deployment_id, warnings: [] } }
  }
  const id = RESULT_IDS.findLast((name) => body[name] !== undefined)
  return { ok: true, result: id === undefined ? {} : { [id]: body[id] } }
}

interface AuditRow {
  actor_name: string | null
  actor_ip: string
  action: string
  resource_id: string | null
  details: Record<string, unknown>
}

const recordsOf = async (requestId: string): Promise<AuditRow[]> =>
  (
    await gateway.database.query<AuditRow & Record<string, unknown>>(
      'SELECT * FROM audit_records WHERE request_id = $1',
      [requestId],
    )
  ).rows

interface Sent {
  path?: string
  body?: unknown
  /** A bearer token. */
  as?: string
  headers?: Record<string, string>
}

function call(method: string, path: string, { body, as = gateway.adminToken, headers = {} }: Sent = {}) {
  const sending = request(gateway.app)
    [method.toLowerCase() as 'get' | 'post' | 'delete'](`/api/v1${path}`)
    .set({ ...(as === '' ? {} : { Authorization: `Bearer ${as}` }), ...headers })
  return body === undefined ? sending : sending.send(body as object)
}

/** Calls an operation with a new request id. Returns the answer and the audit records of the call. */
async function send(id: string, { path, ...sent }: Sent) {
  const { method, path: pattern } = OPERATIONS[id as keyof typeof OPERATIONS] as Operation
  const requestId = `audit-test-${randomUUID()}`
  const headers = { ...sent.headers, 'x-request-id': requestId }
  const answer = await call(method, path ?? pattern.replaceAll(/\{\w+\}/g, UNKNOWN_ID), { ...sent, headers })
  return { answer, records: await recordsOf(requestId), command: commands.get(requestId) }
}

async function made(path: string, body: object, as?: string) {
  const answer = await call('POST', path, { body, ...(as === undefined ? {} : { as }) })
  if (answer.status >= 300) throw new Error(`${answer.status}: ${answer.text}`)
  return answer.body
}
const name = () => `n-${randomUUID()}`
const lastOf = (path: string) => path.split('/').at(-1) ?? ''
const newUser = () => addUser(gateway, { role: 'user', password: PASSWORD })

async function logIn({ email }: { email: string }) {
  const answer = await call('POST', '/auth/login', { as: '', body: { email, password: PASSWORD } })
  const [cookie = ''] = [answer.headers['set-cookie']].flat()
  return { ...answer.body, cookie: cookie.split(';')[0] ?? '' }
}

/** The callback with which the login provider sends the browser back, as a call of the gateway. */
async function callback(query: object = {}) {
  const start = await request(gateway.app).get('/api/v1/auth/oidc/acme/start').query(query)
  const { url } = await openBrowser().logIn(start.headers['location'] ?? '', ADA, {
    until: ({ hostname }) => hostname === 'slipway.test',
  })
  const [cookie = ''] = [start.headers['set-cookie']].flat()
  return {
    path: `${url.pathname.replace('/api/v1', '')}${url.search}`,
    as: '',
    headers: { Cookie: cookie.split(';')[0] ?? '' },
  }
}

/** The code of a login of a program. */
async function programCode(code_verifier: string) {
  const code_challenge = createHash('sha256').update(code_verifier).digest('base64url')
  const { path, headers } = await callback({ cli_port: '49152', state: 'abc', code_challenge })
  const answer = await call('GET', path, { as: '', headers })
  return new URL(answer.headers['location'] ?? '').searchParams.get('code')
}

async function userWithSecondFactor() {
  const user = await newUser()
  const { secret } = await made('/auth/2fa/setup', {}, user.token)
  const { recovery_codes } = await made('/auth/2fa/enable', { code: totp(secret, 0, NOW) }, user.token)
  return { ...user, codes: recovery_codes as string[] }
}

const sensitive = [{ name: 'token', sensitive: true, default: SECRET }]
const definition = { type: 'script', script: `echo ${SECRET}`, env: { KEY: SECRET }, variables: sensitive }
const ssh = { type: 'ssh', host: '192.0.2.1', username: 'root', password: SECRET, private_key: newPrivateKey() }
const variables = { token: SECRET }
const version = (values: object) => ({ version: '1.0.0', definition: values })

const record = (list: string, body: () => object | Promise<object>) => async () =>
  `/${list}/${(await made(`/${list}`, await body())).id}`
const tenant = record('tenants', () => ({ name: name(), variables }))
const environment = record('environments', () => ({ name: name(), variables }))
const target = record('targets', () => ({ name: name(), connection: ssh, variables }))
const agentTarget = record('targets', () => ({ name: name(), connection: { type: 'agent' } }))
const action = record('actions', () => ({ name: name(), ...version(definition) }))
const freeze = () => ({ name: name(), start_time: '2026-01-01T00:00:00Z', end_time: '2026-01-02T00:00:00Z' })
const frozen = record('deployment-freezes', freeze)
const webhookBody = () => ({
  url: `http://127.0.0.1:1/${SECRET}`,
  events: ['target.created'],
  secret: `whsec_${Buffer.from(SECRET).toString('base64')}`,
})
const webhook = record('webhooks', webhookBody)
const role = record('admin/roles', () => ({ name: name(), permissions: ['targets:read'] }))
const newAccount = () => ({ email: `${name()}@example.com`, username: name(), password: SECRET, roles: ['user'] })
const account = record('admin/users', newAccount)
const serviceAccount = record('admin/users', () => ({ kind: 'service', username: name(), roles: ['user'] }))
const newTrust = () => ({
  name: name(),
  issuer: 'https://issuer.example',
  audience: 'slipway',
  claims: { sub: 'pipeline' },
})
const sequenceDefinition = async () => ({ actions: [{ action_id: lastOf(await action()), variables }] })
const sequence = record('sequences', async () => ({ name: name(), ...version(await sequenceDefinition()) }))
const solutionDefinition = async () => ({ sequences: [{ sequence_id: lastOf(await sequence()), variables }] })
const solution = record('solutions', async () => ({ name: name(), ...version(await solutionDefinition()) }))
const deploymentBody = { action_id: UNKNOWN_ID, target_ids: [UNKNOWN_ID], variables }

async function instance(): Promise<string> {
  const id = uuidv7()
  await gateway.database.query(
    `INSERT INTO instances (id, name, version, capacity, credential_hash, enrolled_at)
     VALUES ($1, $2, '${SLIPWAY_VERSION}', 1, '', now() - interval '1 hour')`,
    [id, name()],
  )
  return `/admin/instances/${id}`
}

/** A successful call of each operation that changes something. */
const CALLS: Record<string, () => Promise<Sent> | Sent> = {
  login: async () => ({ as: '', body: { email: (await newUser()).email, password: PASSWORD } }),
  verifyTwoFactor: async () => {
    const user = await userWithSecondFactor()
    const { pending_token } = await logIn(user)
    return { as: '', body: { pending_token, code: user.codes[0] } }
  },
  refreshLogin: async () => ({ as: '', headers: { cookie: (await logIn(await newUser())).cookie } }),
  exchangeToken: async () => {
    const path = await serviceAccount()
    const { username } = (await call('GET', path)).body
    await made(`${path}/trusts`, { ...newTrust(), issuer: issuer.url })
    const subject_token = await issuer.token({ aud: 'slipway', sub: 'pipeline' })
    const grant_type = 'urn:ietf:params:oauth:grant-type:token-exchange'
    const subject_token_type = 'urn:ietf:params:oauth:token-type:jwt'
    return { as: '', body: { grant_type, subject_token_type, subject_token, service_account: username } }
  },
  logout: async () => ({ as: (await newUser()).token }),
  changePassword: async () => ({
    as: (await newUser()).token,
    body: { current_password: PASSWORD, new_password: SECRET },
  }),
  deleteSession: async () => {
    const { token } = await newUser()
    const { body } = await call('GET', '/auth/sessions', { as: token })
    return { as: token, path: `/auth/sessions/${body.sessions[0].id}` }
  },
  setUpTwoFactor: async () => ({ as: (await newUser()).token }),
  enableTwoFactor: async () => {
    const { token } = await newUser()
    const { secret } = await made('/auth/2fa/setup', {}, token)
    return { as: token, body: { code: totp(secret, 0, NOW) } }
  },
  disableTwoFactor: async () => {
    const { token, codes } = await userWithSecondFactor()
    return { as: token, body: { code: codes[0] } }
  },
  createApiKey: () => ({ body: { name: name(), scopes: ['targets:read'] } }),
  deleteApiKey: async () => ({ path: `/auth/api-keys/${(await made('/auth/api-keys', { name: name() })).api_key.id}` }),
  createAction: () => ({ body: { name: name(), ...version(definition) } }),
  createActionVersion: async () => ({ path: `${await action()}/versions`, body: { version: '2.0.0', definition } }),
  createContent: () => ({ body: name(), headers: { 'content-type': 'application/octet-stream' } }),
  updateAction: async () => ({ path: await action(), body: { name: name() } }),
  deleteAction: async () => ({ path: await action() }),
  createSequence: async () => ({ body: { name: name(), ...version(await sequenceDefinition()) } }),
  createSequenceVersion: async () => ({
    path: `${await sequence()}/versions`,
    body: { version: '2.0.0', definition: await sequenceDefinition() },
  }),
  updateSequence: async () => ({ path: await sequence(), body: { description: 'other' } }),
  deleteSequence: async () => ({ path: await sequence() }),
  createSolution: async () => ({ body: { name: name(), ...version(await solutionDefinition()) } }),
  createSolutionVersion: async () => ({
    path: `${await solution()}/versions`,
    body: { version: '2.0.0', definition: await solutionDefinition() },
  }),
  updateSolution: async () => ({ path: await solution(), body: { name: name() } }),
  deleteSolution: async () => ({ path: await solution() }),
  createTarget: () => ({ body: { name: name(), connection: ssh, variables } }),
  updateTarget: async () => ({
    path: await target(),
    body: { connection: { ...ssh, host: '192.0.2.2' }, variables: { ...variables, other: SECRET } },
  }),
  deleteTarget: async () => ({ path: await target() }),
  createAgentToken: async () => ({ path: `${await agentTarget()}/agent-token` }),
  revokeTargetAgent: async () => {
    const path = await agentTarget()
    await made(`${path}/agent-token`, {})
    return { path: `${path}/agent` }
  },
  createEnvironment: () => ({ body: { name: name(), variables } }),
  updateEnvironment: async () => ({ path: await environment(), body: { variables: { other: SECRET } } }),
  deleteEnvironment: async () => ({ path: await environment() }),
  createTenant: () => ({ body: { name: name(), variables } }),
  updateTenant: async () => ({ path: await tenant(), body: { name: name(), variables: { other: SECRET } } }),
  deleteTenant: async () => ({ path: await tenant() }),
  createFreeze: () => ({ body: freeze() }),
  updateFreeze: async () => ({ path: await frozen(), body: { name: name() } }),
  deleteFreeze: async () => ({ path: await frozen() }),
  checkReleases: async () => ({ body: { target_ids: [lastOf(await target())] } }),
  createWebhook: () => ({ body: webhookBody() }),
  updateWebhook: async () => ({
    path: await webhook(),
    body: { ...webhookBody(), url: `http://127.0.0.2:1/${SECRET}` },
  }),
  deleteWebhook: async () => ({ path: await webhook() }),
  redeliverWebhook: async () => {
    const path = await webhook()
    const delivery = randomUUID()
    await gateway.database.query(
      `INSERT INTO webhook_deliveries (id, webhook_id, message_id, event, payload, status, expires_at)
       VALUES ($1, $2, $1, 'target.created', '{}', 'failed', now())`,
      [delivery, lastOf(path)],
    )
    return { path: `${path}/deliveries/${delivery}/redeliver` }
  },
  finishOidcLogin: () => callback(),
  exchangeCliCode: async () => {
    const code_verifier = randomBytes(32).toString('base64url')
    return { as: '', body: { code: await programCode(code_verifier), code_verifier } }
  },
  createUser: () => ({ body: newAccount() }),
  updateUser: async () => ({ path: await account(), body: { password: `${SECRET}-2`, status: 'suspended' } }),
  deleteUser: async () => ({ path: await account() }),
  createTrust: async () => ({ path: `${await serviceAccount()}/trusts`, body: newTrust() }),
  deleteTrust: async () => {
    const path = `${await serviceAccount()}/trusts`
    return { path: `${path}/${(await made(path, newTrust())).id}` }
  },
  createUserApiKey: async () => ({ path: `${await serviceAccount()}/api-keys`, body: { name: name() } }),
  deleteUserApiKey: async () => {
    const path = `${await serviceAccount()}/api-keys`
    return { path: `${path}/${(await made(path, { name: name() })).api_key.id}` }
  },
  createRole: () => ({ body: { name: name(), permissions: ['targets:read'] } }),
  updateRole: async () => ({ path: await role(), body: { permissions: ['tags:read'] } }),
  deleteRole: async () => ({ path: await role() }),
  updateInstance: async () => ({ path: await instance(), body: { draining: false } }),
  createInstanceGrant: () => ({ body: { uses: 2 } }),
  revokeInstanceGrant: async () => ({ path: `/instances/grants/${(await made('/instances/grants', {})).id}` }),
  deleteInstance: async () => ({ path: await instance() }),
  createDeployment: () => ({ body: deploymentBody }),
  redeployDeployment: async () => ({
    path: `/deployments/${await addDeployment(gateway.database)}/redeploy`,
    body: { variables },
  }),
  cancelDeployment: async () => ({
    path: `/deployments/${await addDeployment(gateway.database)}/cancel`,
    body: { reason: 'wrong version' },
  }),
  cancelPending: async () => ({ path: `/deployments/pending/${await addPending(gateway.database)}` }),
  updatePending: async () => ({
    path: `/deployments/pending/${await addPending(gateway.database)}`,
    body: { priority: 7 },
  }),
  approvePending: async () => ({ path: `/deployments/pending/${await addPending(gateway.database)}/approve` }),
  rejectPending: async () => ({ path: `/deployments/pending/${await addPending(gateway.database)}/reject` }),
}

test('every operation that changes something has a call in this file', () => {
  expect(audited.map(([id]) => id).filter((id) => CALLS[id] === undefined)).toEqual([])
})

test.each(audited)('a successful call of %s leaves one audit record', async (id, operation) => {
  // Operations that need a permission are called with an API key.
  const byKey = operation.access.includes(':') && operation.loginOnly !== true
  const { answer, records, command } = await send(id, { ...(byKey ? { as: keyed } : {}), ...(await CALLS[id]?.()) })
  const isDone = answer.status < 400
  expect({ isDone, text: isDone ? '' : answer.text }).toEqual({ isDone: true, text: '' })
  if (command !== undefined) {
    // The receiver writes the record, in the transaction of the effect.
    expect(records).toEqual([])
    expect(command.api_key).toEqual(byKey ? key : undefined)
    return
  }
  expect(records).toMatchObject([
    { action: operation.audit, actor_ip: expect.any(String), actor_name: expect.any(String) },
  ])
  expect(records[0]?.details['api_key']).toEqual(byKey ? key : undefined)
  expect(['refused', 'failed']).not.toContain(records[0]?.details['outcome'])
  expect(records[0]?.resource_id).not.toBeNull()
})

describe('a refused call leaves one audit record', () => {
  const refusal = (operation: Operation, status: number, actor: unknown) => [
    { action: operation.audit, actor_name: actor, details: { outcome: 'refused', status, code: expect.any(String) } },
  ]

  const operation = OPERATIONS.createTarget as Operation

  test('without a credential', async () => {
    const { answer, records } = await send('createTarget', { as: '' })
    expect(answer.status).toBe(401)
    expect(records).toMatchObject(refusal(operation, 401, null))
  })

  test('without its permission', async () => {
    const { answer, records } = await send('createTarget', { as: (await newUser()).token, body: {} })
    expect(answer.status).toBe(403)
    expect(records).toMatchObject(refusal(operation, 403, expect.stringMatching(/^user-/)))
  })

  test('with a wrong body', async () => {
    const body = { [SECRET]: SECRET, password: SECRET, name: SECRET.repeat(50) }
    const { answer, records } = await send('createTarget', { body })
    expect(answer.status).toBe(400)
    expect(records).toMatchObject(refusal(operation, 400, 'admin'))
  })

  const withoutBody = ({ path: pattern, method, bodyOptional, body }: Operation) =>
    pattern.includes('{id}') && (body === undefined || bodyOptional === true || method === 'DELETE')
  const leavesOne = (operation: Operation) => withoutBody(operation) && operation.auditsNamedRefusals !== true
  test.each(audited.filter(([, operation]) => leavesOne(operation)))(
    '%s of a record that does not exist',
    async (id, operation) => {
      const { answer, records } = await send(id, {})
      expect(answer.status).toBe(404)
      const actor = operation.access === 'public' ? null : 'admin'
      expect(records).toMatchObject([{ resource_id: UNKNOWN_ID, ...refusal(operation, 404, actor)[0] }])
    },
  )
})

describe('a call of a stranger that names no account and no provider leaves no audit record', () => {
  const cliToken = { code: randomBytes(32).toString('base64url'), code_verifier: randomBytes(32).toString('base64url') }
  const strange: [string, OperationId, { path?: string; body?: object }, number][] = [
    ['an unknown code of a program', 'exchangeCliCode', { body: cliToken }, 401],
    ['a code of a wrong form', 'exchangeCliCode', { body: { code: 1 } }, 400],
    ['a callback with an unknown state', 'finishOidcLogin', { path: '/auth/oidc/acme/callback?state=unknown' }, 302],
    ['a callback without a state', 'finishOidcLogin', { path: '/auth/oidc/acme/callback' }, 302],
    ['a callback with a wrong query', 'finishOidcLogin', { path: '/auth/oidc/acme/callback?state=' }, 400],
    ['a callback of an unknown provider', 'finishOidcLogin', { path: '/auth/oidc/none/callback?state=unknown' }, 404],
    ['an exchange of a wrong form', 'exchangeToken', { body: { grant_type: 'x' } }, 400],
  ]
  test.each(strange)('%s', async (_name, id, given, status) => {
    const { answer, records } = await send(id, { as: '', ...given })
    expect({ status: answer.status, records }).toEqual({ status, records: [] })
  })

  test('but a known code with the verifier of another program does', async () => {
    const code = await programCode(randomBytes(32).toString('base64url'))
    const { answer, records } = await send('exchangeCliCode', { as: '', body: { ...cliToken, code } })
    expect(answer.status).toBe(401)
    expect(records).toMatchObject([{ action: 'auth.cli_token', details: { outcome: 'refused', provider: 'acme' } }])
    expect(records[0]?.resource_id).not.toBeNull()
  })
})

test('reads, previews without values, and unknown routes and methods leave no audit record', async () => {
  const { variables: _, ...withoutValues } = deploymentBody
  const calls: [string, string, unknown?][] = [
    ['GET', '/actions'],
    ['GET', `/actions/${UNKNOWN_ID}`],
    ['GET', '/audit/logs'],
    ['POST', '/deployments/preview', withoutValues],
    ['POST', '/deployments', { ...withoutValues, dry_run: true }],
    ['POST', `/deployments/${UNKNOWN_ID}/redeploy`, { dry_run: true }],
    ['POST', '/nowhere', {}],
    ['POST', '/deployments/pending', {}],
  ]
  for (const [method, to, body] of calls) {
    const requestId = `audit-test-${randomUUID()}`
    await call(method, to, { body, headers: { 'x-request-id': requestId } })
    expect({ method, to, records: await recordsOf(requestId) }).toEqual({ method, to, records: [] })
  }
})

test('previews and dry runs that are given values leave one audit record, with the names of the values', async () => {
  const values = { variables: { region: SECRET }, prompted_values: { token: SECRET } }
  const details = { variables: ['region', 'token'], variable_count: 2 }
  const calls: [string, object][] = [
    ['/deployments/preview', { ...deploymentBody, ...values }],
    ['/deployments', { ...deploymentBody, ...values, dry_run: true }],
  ]
  for (const [to, body] of calls) {
    const requestId = `audit-test-${randomUUID()}`
    await call('POST', to, { body, headers: { 'x-request-id': requestId } })
    const records = await recordsOf(requestId)
    expect(records).toMatchObject([{ action: 'deployment.preview', resource_type: 'deployment', details }])
    expect(JSON.stringify(records)).not.toContain(SECRET)
  }
})

test('planted secrets are in no audit record and in no log line', async () => {
  const login = await send('login', { as: '', body: { email: ADMIN.email, password: SECRET } })
  expect(login.records).toMatchObject([{ action: 'auth.login', details: { outcome: 'refused', status: 401 } }])
  await call('GET', `/deployments?search=${SECRET}&sse_token=${SECRET}`)
  await call('GET', `/nothing/${SECRET}?token=${SECRET}`)
  await call('GET', `/deployments/${SECRET}`)
  await call('GET', `/deployments/${UNKNOWN_ID}/logs?sse_token=${SECRET}`)
  await call('GET', '/deployments', { as: SECRET })
  await call('POST', '/auth/refresh', { headers: { cookie: `refresh_token=${SECRET}` } })
  await call('POST', '/auth/login', {
    headers: { 'content-type': 'application/json' },
    body: `{"email":"a@b.c","password":"${SECRET}`,
  })
  const { rows } = await gateway.database.query('SELECT number FROM audit_records r WHERE r::text LIKE $1', [
    `%${SECRET}%`,
  ])
  expect(rows).toEqual([])
  expect(written()).toContain('"message":"request"')
  const lines = written().split('\n')
  for (const secret of [SECRET, keyed, gateway.adminToken, PASSWORD]) {
    expect(lines.filter((line) => line.includes(secret)).slice(0, 3)).toEqual([])
  }
})
