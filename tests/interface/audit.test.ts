import { execFile } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { OPERATIONS, type Operation } from '@slipway/contracts'
import { SLIPWAY_VERSION } from '@slipway/runtime'
import {
  type Answer,
  type Api,
  apiWithToken,
  connectTo,
  createAction,
  createGate,
  createLocalTarget,
  createSequence,
  type Gate,
  loginToSuite,
  repositoryRoot,
  SERVICES,
  type Suite,
  startSuite,
  totp,
  waitFor,
} from '@slipway/testing'

/** The value of every secret that a caller can send. No record and no log may contain it. */
const SECRET = `planted-${randomBytes(12).toString('hex')}`
const UNKNOWN = '00000000-0000-4000-8000-000000000000'

const audited = Object.entries(OPERATIONS as Record<string, Operation>).filter(([, { audit }]) => audit !== undefined)

let suite: Suite
let database: Awaited<ReturnType<typeof connectTo>>
let admin: Api
let looker: Api

beforeAll(async () => {
  suite = await startSuite({ capacity: 2, env: { SLIPWAY_WEBHOOK_ALLOW_PRIVATE: 'true' } })
  database = await connectTo(suite.databaseUrl)
  admin = await loginToSuite(suite)
  looker = (await newUser('user')).api
})
afterEach(() => suite.restore())

afterAll(async () => {
  await database.end()
  await suite.stop()
})

interface AuditRow {
  actor_name: string | null
  actor_ip: string
  action: string
  resource_type: string
  resource_id: string | null
  details: Record<string, unknown>
}

async function recordsOf(requestId: string): Promise<AuditRow[]> {
  const { rows } = await database.query<AuditRow>('SELECT * FROM audit_records WHERE request_id = $1', [requestId])
  return rows
}

interface Sent {
  path?: string
  body?: unknown
  api?: Api
  headers?: Record<string, string>
}

/** Calls an operation with a new request id. Returns the answer and the audit records of the call. */
async function send(id: string, { path: where, body, api = admin, headers = {} }: Sent) {
  const { method, path: pattern } = OPERATIONS[id as keyof typeof OPERATIONS] as Operation
  const requestId = `audit-test-${randomUUID()}`
  const to = where ?? pattern.replaceAll(/\{\w+\}/g, UNKNOWN)
  const answer = await api.call(method, to, body, { ...headers, 'x-request-id': requestId })
  return { answer, records: await recordsOf(requestId) }
}

const ok = async (answer: Promise<Answer<{ id: string }>>): Promise<string> => {
  const { status, body } = await answer
  if (status >= 300) throw new Error(`${status}: ${JSON.stringify(body)}`)
  return body.id
}
const name = () => `n-${randomUUID()}`

/** Inserts a user into the database, without audit records of the API. It has the password of the administrator. */
async function newUser(role: string): Promise<{ api: Api; id: string; email: string; cookie: string }> {
  const id = randomUUID()
  const email = `${id}@example.com`
  await database.query(
    `INSERT INTO users (id, email, username, password_hash)
     SELECT $1, $2, $3, password_hash FROM users WHERE email = $4`,
    [id, email, `user-${id}`, suite.admin.email],
  )
  await database.query('INSERT INTO user_roles SELECT $1, id FROM roles WHERE name = $2', [id, role])
  const login = await apiWithToken(suite.url, '').post('/auth/login', { email, password: suite.admin.password })
  const cookie = (login.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  return { api: apiWithToken(suite.url, login.body.access_token), id, email, cookie }
}

async function userWithSecondFactor() {
  const user = await newUser('user')
  const { body: setup } = await user.api.post('/auth/2fa/setup', {})
  const { body } = await user.api.post('/auth/2fa/enable', { code: totp(setup.secret) })
  return { ...user, codes: body.recovery_codes as string[] }
}

const sensitive = [{ name: 'token', sensitive: true, default: SECRET }]
const definition = { type: 'script', script: `echo ${SECRET}`, env: { KEY: SECRET }, variables: sensitive }
const ssh = { type: 'ssh', host: '192.0.2.1', username: 'root', password: SECRET, private_key: SECRET }
const variables = { token: SECRET }
const freeze = () => ({ name: name(), start_time: '2026-01-01T00:00:00Z', end_time: '2026-01-02T00:00:00Z' })
const version = (values: object) => ({ version: '1.0.0', definition: values })

const record = (list: string, body: () => object | Promise<object>) => async () =>
  ok(admin.post(`/${list}`, await body())).then((id) => `/${list}/${id}`)
const tenant = record('tenants', () => ({ name: name(), variables }))
const environment = record('environments', () => ({ name: name(), variables }))
const target = record('targets', () => ({ name: name(), connection: ssh, variables }))
const agentTarget = record('targets', () => ({ name: name(), connection: { type: 'agent' } }))
const action = record('actions', () => ({ name: name(), ...version(definition) }))
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
const sequenceDefinition = async () => ({ actions: [{ action_id: await createAction(admin), variables }] })
const sequence = record('sequences', async () => ({ name: name(), ...version(await sequenceDefinition()) }))
const solutionDefinition = async () => ({
  sequences: [{ sequence_id: await createSequence(admin, [await createAction(admin)]), variables }],
})
const solution = record('solutions', async () => ({ name: name(), ...version(await solutionDefinition()) }))

const deploymentBody = async (script = 'sleep 0.2') => ({
  action_id: await createAction(admin, { script, variables: [{ name: 'token', sensitive: true }] }),
  target_ids: [await createLocalTarget(admin)],
  variables,
})
const deployed = async (script?: string) => {
  const { body } = await admin.post('/deployments', await deploymentBody(script))
  return `/deployments/${body.deployment_id}`
}

/** A successful call of each operation that changes something. */
const CALLS: Record<string, () => Promise<Sent> | Sent> = {
  login: async () => {
    const { email } = await newUser('user')
    return { api: apiWithToken(suite.url, ''), body: { email, password: suite.admin.password } }
  },
  verifyTwoFactor: async () => {
    const { email, codes } = await userWithSecondFactor()
    const anyone = apiWithToken(suite.url, '')
    const { body } = await anyone.post('/auth/login', { email, password: suite.admin.password })
    return { api: anyone, body: { pending_token: body.pending_token, code: codes[0] } }
  },
  refreshLogin: async () => ({
    api: apiWithToken(suite.url, ''),
    headers: { cookie: (await newUser('user')).cookie },
  }),
  logout: async () => ({ api: (await newUser('user')).api }),
  changePassword: async () => {
    const { api } = await newUser('user')
    return { api, body: { current_password: suite.admin.password, new_password: SECRET } }
  },
  deleteSession: async () => {
    const { api } = await newUser('user')
    const { body } = await api.get('/auth/sessions')
    return { api, path: `/auth/sessions/${body.sessions[0].id}` }
  },
  setUpTwoFactor: async () => ({ api: (await newUser('user')).api }),
  enableTwoFactor: async () => {
    const { api } = await newUser('user')
    const { body } = await api.post('/auth/2fa/setup', {})
    return { api, body: { code: totp(body.secret) } }
  },
  disableTwoFactor: async () => {
    const { api, codes } = await userWithSecondFactor()
    return { api, body: { code: codes[0] } }
  },
  createApiKey: () => ({ body: { name: name(), scopes: ['targets:read'] } }),
  deleteApiKey: async () => {
    const { body } = await admin.post('/auth/api-keys', { name: name() })
    return { path: `/auth/api-keys/${body.api_key.id}` }
  },
  createAction: () => ({ body: { name: name(), ...version(definition) } }),
  createActionVersion: async () => ({
    path: `${await action()}/versions`,
    body: { version: '2.0.0', definition },
  }),
  createContent: () => ({ body: name() }),
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
    await admin.post(`${path}/agent-token`)
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
  checkReleases: async () => ({ body: { target_ids: [(await target()).split('/').at(-1)] } }),
  createWebhook: () => ({ body: webhookBody() }),
  updateWebhook: async () => ({
    path: await webhook(),
    body: { ...webhookBody(), url: `http://127.0.0.2:1/${SECRET}` },
  }),
  deleteWebhook: async () => ({ path: await webhook() }),
  redeliverWebhook: async () => {
    const path = await webhook()
    const delivery = randomUUID()
    await database.query(
      `INSERT INTO webhook_deliveries (id, webhook_id, message_id, event, payload, status, expires_at)
       VALUES ($1, $2, $1, 'target.created', '{}', 'failed', now())`,
      [delivery, path.split('/').at(-1)],
    )
    return { path: `${path}/deliveries/${delivery}/redeliver` }
  },
  createUser: () => ({ body: newAccount() }),
  updateUser: async () => ({ path: await account(), body: { password: `${SECRET}-2`, status: 'suspended' } }),
  deleteUser: async () => ({ path: await account() }),
  createRole: () => ({ body: { name: name(), permissions: ['targets:read'] } }),
  updateRole: async () => ({ path: await role(), body: { permissions: ['tags:read'] } }),
  deleteRole: async () => ({ path: await role() }),
  updateInstance: async () => {
    const { body } = await admin.get('/admin/instances')
    return { path: `/admin/instances/${body.data[0].id}`, body: { draining: false } }
  },
  createInstanceGrant: () => ({ body: { uses: 2 } }),
  revokeInstanceGrant: async () => ({
    path: `/instances/grants/${(await admin.post('/instances/grants', {})).body.id}`,
  }),
  deleteInstance: async () => {
    const id = randomUUID()
    await database.query(
      `INSERT INTO instances (id, name, version, capacity, credential_hash, enrolled_at)
       VALUES ($1, $2, '${SLIPWAY_VERSION}', 1, '', now() - interval '1 hour')`,
      [id, name()],
    )
    return { path: `/admin/instances/${id}` }
  },
  createDeployment: async () => ({ body: await deploymentBody() }),
  redeployDeployment: async () => ({ path: `${await deployed()}/redeploy`, body: { variables } }),
  cancelDeployment: async () => {
    // The deployment starts only if a slot is free.
    await atRest()
    gate = createGate(suite)
    return { path: `${await deployed(gate.script)}/cancel`, body: { reason: 'wrong version' } }
  },
  cancelPending: async () => ({ path: await queued() }),
  updatePending: async () => ({ path: await queued(), body: { priority: 7 } }),
}

/** Holds the deployments that fill all slots. */
let gate: Gate | undefined
afterEach(() => gate?.open())

/** Fills all slots and returns the path of a pending request. */
async function queued(): Promise<string> {
  await atRest()
  gate = createGate(suite)
  for (let busy = 0; busy < 2; busy += 1) await deployed(gate.script)
  const { body } = await admin.post('/deployments', await deploymentBody())
  return `/deployments/pending/${body.pending_request_id}`
}

/** Waits until there are no running deployments and no pending requests. */
const atRest = () => {
  gate?.open()
  return waitFor(
    async () => {
      const { rows } = await database.query(
        `SELECT FROM leases WHERE ended_at IS NULL UNION ALL SELECT FROM pending_requests WHERE status = 'pending'`,
      )
      return rows.length === 0
    },
    { what: 'all deployments to end' },
  )
}

test('every operation that changes something has a call in this file', () => {
  expect(audited.map(([id]) => id).filter((id) => CALLS[id] === undefined)).toEqual([])
})

describe('a successful call leaves one audit record', () => {
  let keyed: Api
  let key: { id: string; name: string }

  beforeAll(async () => {
    const { body } = await admin.post('/auth/api-keys', { name: name() })
    keyed = apiWithToken(suite.url, body.full_key)
    key = { id: body.api_key.id, name: body.api_key.name }
  })

  test.each(audited)('%s', async (id, operation) => {
    // Operations that need a permission are called with an API key.
    const byKey = operation.access.includes(':') && operation.loginOnly !== true
    const sent: Sent = { ...(byKey ? { api: keyed } : {}), ...(await CALLS[id]?.()) }
    const { answer, records } = await send(id, sent)
    expect({ status: answer.status < 300, body: answer.status < 300 ? null : answer.body }).toEqual({
      status: true,
      body: null,
    })
    expect(records).toMatchObject([{ action: operation.audit, actor_ip: '127.0.0.1', actor_name: expect.any(String) }])
    expect(records[0]?.details['api_key']).toEqual(byKey ? key : undefined)
    expect(['refused', 'failed']).not.toContain(records[0]?.details['outcome'])
    expect(records[0]?.resource_id).not.toBeNull()
  })
})

describe('a refused call leaves one audit record', () => {
  const refusal = (operation: Operation, status: number, actor: unknown) => [
    { action: operation.audit, actor_name: actor, details: { outcome: 'refused', status, code: expect.any(String) } },
  ]
  const anyone = () => apiWithToken(suite.url, '')

  test.each(audited.filter(([, { access }]) => access !== 'public'))(
    '%s without a credential',
    async (id, operation) => {
      const { answer, records } = await send(id, { api: anyone() })
      expect(answer.status).toBe(401)
      expect(records).toMatchObject(refusal(operation, 401, null))
    },
  )

  test.each(audited.filter(([, { access }]) => access.includes(':')))(
    '%s without its permission',
    async (id, operation) => {
      const { answer, records } = await send(id, { api: looker, body: operation.body === undefined ? undefined : {} })
      expect(answer.status).toBe(403)
      expect(records).toMatchObject(refusal(operation, 403, expect.stringMatching(/^user-/)))
    },
  )

  test.each(audited.filter(([, { body }]) => body !== undefined))('%s with a wrong body', async (id, operation) => {
    const body = { [SECRET]: SECRET, password: SECRET, name: SECRET.repeat(50) }
    const { answer, records } = await send(id, { body })
    expect(answer.status).toBe(400)
    expect(records).toMatchObject(refusal(operation, 400, operation.access === 'public' ? null : 'admin'))
  })

  const withoutBody = ({ path: pattern, method, bodyOptional, body }: Operation) =>
    pattern.includes('{id}') && (body === undefined || bodyOptional === true || method === 'DELETE')
  test.each(audited.filter(([, operation]) => withoutBody(operation)))(
    '%s of a record that does not exist',
    async (id, operation) => {
      const { answer, records } = await send(id, {})
      expect(answer.status).toBe(404)
      expect(records).toMatchObject([{ resource_id: UNKNOWN, ...refusal(operation, 404, 'admin')[0] }])
    },
  )

  test('a login with a wrong password, a name that is taken, and a deployment of an unknown source', async () => {
    const login = await send('login', { api: anyone(), body: { email: suite.admin.email, password: SECRET } })
    expect(login.records).toMatchObject(refusal(OPERATIONS.login, 401, null))
    const taken = name()
    await ok(admin.post('/tenants', { name: taken }))
    const twice = await send('createTenant', { body: { name: taken } })
    expect(twice.records).toMatchObject(refusal(OPERATIONS.createTenant, 409, 'admin'))
    const missing = await send('createDeployment', { body: { action_id: UNKNOWN, target_ids: [UNKNOWN] } })
    expect(missing.answer.status).toBe(404)
    expect(missing.records).toMatchObject(refusal(OPERATIONS.createDeployment, 404, 'admin'))
  })
})

test('reads, previews, dry runs, and unknown routes and methods leave no audit record', async () => {
  const body = await deploymentBody()
  const calls: [string, string, unknown?][] = [
    ['GET', '/actions'],
    ['GET', `/actions/${UNKNOWN}`],
    ['GET', '/audit/logs'],
    ['POST', '/deployments/preview', body],
    ['POST', '/deployments', { ...body, dry_run: true }],
    ['POST', '/deployments', { ...body, target_ids: [UNKNOWN], dry_run: true }],
    ['POST', `/deployments/${UNKNOWN}/redeploy`, { dry_run: true }],
    ['POST', '/nowhere', {}],
    ['POST', '/deployments/pending', {}],
  ]
  for (const [method, to, sent] of calls) {
    const requestId = `audit-test-${randomUUID()}`
    const { status } = await admin.call(method, to, sent, { 'x-request-id': requestId })
    expect({ method, to, status, records: await recordsOf(requestId) }).toMatchObject({
      status: expect.any(Number),
      records: [],
    })
  }
})

test('a call has its audit record once, although the gateway dies between the effect and the answer', async () => {
  const body = await deploymentBody()
  await atRest()
  const blocker = await connectTo(suite.databaseUrl)
  const requestId = `audit-test-${randomUUID()}`
  try {
    // Only the answer of the gateway needs this table. The start of a deployment does not.
    await blocker.query('BEGIN')
    await blocker.query('LOCK TABLE run_progress IN ACCESS EXCLUSIVE MODE')
    const answer = admin.call('POST', '/deployments', body, { 'x-request-id': requestId }).then(
      ({ status }) => status,
      () => 'cut off',
    )
    await waitFor(async () => (await recordsOf(requestId)).length > 0, { what: 'the record of the call' })
    await suite.kill('gateway')
    expect(await answer).toBe('cut off')
  } finally {
    await blocker.query('ROLLBACK')
    await blocker.end()
  }
  await suite.start('gateway')
  const records = await recordsOf(requestId)
  expect(records).toMatchObject([{ action: 'deployment.create', actor_name: 'admin', details: { outcome: 'started' } }])
  expect((await admin.get(`/deployments/${records[0]?.resource_id}`)).status).toBe(200)
})

test('planted secrets are in no audit record and in no log', async () => {
  await atRest()
  const { rows } = await database.query('SELECT number FROM audit_records r WHERE r::text LIKE $1', [`%${SECRET}%`])
  expect(rows).toEqual([])
  for (const service of SERVICES) {
    const lines = suite.logOf(service).split('\n')
    expect(lines.filter((line) => line.includes(SECRET)).slice(0, 3)).toEqual([])
  }
})

test('audit-verify finds the chain complete, and after a change names the first broken position', async () => {
  const verify = (...args: string[]) =>
    promisify(execFile)(
      process.execPath,
      [path.join(repositoryRoot, 'services/gateway/dist/audit/verify.js'), ...args],
      {
        env: { PATH: process.env['PATH'] ?? '', DATABASE_URL: suite.databaseUrl },
      },
    ).then(
      ({ stdout }) => ({ code: 0, stdout }),
      ({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout }),
    )
  await waitFor(
    async () => {
      const { rows } = await database.query(
        'SELECT FROM audit_records WHERE number NOT IN (SELECT record_number FROM audit_links)',
      )
      return rows.length === 0
    },
    { what: 'the chain to hold all records' },
  )
  const { code, stdout } = await verify()
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^The audit log is whole: \d+ records/) })
  const [, head = ''] = /Head: (\S+)/.exec(stdout) ?? []
  expect((await verify('--expect', head)).code).toBe(0)
  // The head that the gateway has published in its log and to Prometheus matches the chain.
  const published = suite.logOf('gateway').match(/\{[^\n]*"the head of the audit chain"[^\n]*\}/g) ?? []
  const { position, hash } = JSON.parse(published.at(-1) ?? '{}')
  expect((await verify('--expect', `${position}:${hash}`)).code).toBe(0)
  expect((await suite.metricsOf('gateway')).value('slipway_audit_head')).toBeGreaterThanOrEqual(position)
  expect(hash).toMatch(/^[0-9a-f]{64}$/)

  const { body } = await admin.get('/audit/logs?limit=1')
  const { rows } = await database.query<{ total: number }>('SELECT count(*)::int AS total FROM audit_records')
  expect(body.meta.total).toBe(rows[0]?.total)

  await database.query('ALTER TABLE audit_records DISABLE TRIGGER USER')
  await database.query(
    `UPDATE audit_records SET actor_name = 'nobody' WHERE number = (SELECT record_number FROM audit_links WHERE position = 7)`,
  )
  expect(await verify()).toEqual({ code: 1, stdout: expect.stringContaining('BROKEN, first at position 7,') })
  expect((await verify('--expect', 'nonsense')).code).toBe(2)
})
