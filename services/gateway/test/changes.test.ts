import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { OperationId } from '@slipway/contracts'
import { addPending, newPrivateKey } from '@slipway/testing'
import { addDeployment } from './deployment-rows.ts'
import {
  addTenant,
  addUser,
  type Client,
  clientOf,
  refusal,
  refused,
  startGateway,
  type TestGateway,
  taken,
  UNKNOWN_ID,
} from './setup.ts'

let gateway: TestGateway
let admin: Client
let ofA: Client
let tenants: { a: string; b: string }
beforeAll(async () => {
  gateway = await startGateway()
  admin = clientOf(gateway, gateway.adminToken)
  const [a, b] = [await addTenant(gateway, 'A'), await addTenant(gateway, 'B')]
  tenants = { a: a.id, b: b.id }
  ofA = a.admin
  // Declares the name `token` as sensitive.
  await source('action', script({ variables: [{ name: 'token', sensitive: true }] }))
})
afterAll(() => gateway.close())

let counter = 0
const unique = (name: string) => `${name} ${++counter}`
const script = (more: object = {}) => ({ type: 'script', script: 'true', ...more })
const conflict = refused(409, 'CONFLICT')
const times = { start_time: '2026-01-01T00:00:00Z', end_time: '2026-01-02T00:00:00Z' }

type Kind = 'Action' | 'Sequence' | 'Solution' | 'Target' | 'Environment' | 'Tenant' | 'Freeze'
const PATHS: Record<Kind, string> = {
  Action: '/actions',
  Sequence: '/sequences',
  Solution: '/solutions',
  Target: '/targets',
  Environment: '/environments',
  Tenant: '/tenants',
  Freeze: '/deployment-freezes',
}
const at = (kind: Kind, id: string) => `${PATHS[kind]}/${id}`
const update = (kind: Kind, id: string, change: object, client = admin) =>
  client.send(`update${kind}`, at(kind, id), change)
const remove = (kind: Kind, id: string, client = admin) => client.send(`delete${kind}`, at(kind, id))
const read = (kind: Kind, id: string) => admin.send(`get${kind}`, at(kind, id))

async function create(kind: Kind, body: object) {
  const response = await admin.send(`create${kind}`, PATHS[kind], { name: unique(kind), ...body })
  expect(response.status).toBe(201)
  return response.body as { id: string; name: string; [field: string]: unknown }
}
const source = (kind: 'action' | 'sequence' | 'solution', definition: object, more: object = {}) =>
  create(kind === 'action' ? 'Action' : kind === 'sequence' ? 'Sequence' : 'Solution', {
    version: '1.0.0',
    definition,
    ...more,
  })
const target = (more: object = {}) => create('Target', { connection: { type: 'local' }, ...more })

async function row(table: string, id: string): Promise<Record<string, unknown>> {
  const { rows } = await gateway.database.query<{ r: Record<string, unknown> }>(
    `SELECT to_jsonb(t) AS r FROM ${table} t WHERE id = $1`,
    [id],
  )
  return rows[0]?.r ?? {}
}
async function lastAudit(id: string) {
  const { rows } = await gateway.database.query<{ action: string; details: unknown }>(
    'SELECT action, details FROM audit_records WHERE resource_id = $1 ORDER BY number DESC LIMIT 1',
    [id],
  )
  return rows[0]
}
async function lastMessage() {
  const { rows } = await gateway.database.query('SELECT type, body FROM outbox ORDER BY id DESC LIMIT 1')
  return rows[0]
}

const SAMPLES: [Kind, () => Promise<{ id: string; name: string }>, object][] = [
  ['Action', () => source('action', script()), {}],
  ['Sequence', async () => source('sequence', { actions: [{ action_id: (await source('action', script())).id }] }), {}],
  ['Target', () => target(), { enabled: false, tags: [{ key: 'role', value: 'db' }] }],
  ['Environment', () => create('Environment', {}), { variables: { region: 'eu' } }],
  ['Tenant', () => create('Tenant', {}), { slug: 'renamed-tenant', variables: { region: 'eu' } }],
  ['Freeze', () => create('Freeze', times), { end_time: '2026-01-03T00:00:00.000Z', recurrence: 'FREQ=WEEKLY' }],
]

describe.each(SAMPLES)('%s', (kind, sample, more) => {
  test('each field can be changed, alone and together', async () => {
    const before = await sample()
    const name = unique('Renamed')
    for (const change of [{ description: 'why' }, { description: null }, { name }, more, {}]) {
      const { status, body } = await update(kind, before.id, change)
      expect(status).toBe(200)
      expect(body).toMatchObject(change)
      expect((await read(kind, before.id)).body).toEqual(body)
    }
    const all = { description: 'all', name: unique('Renamed'), ...more }
    expect((await update(kind, before.id, all)).body).toMatchObject(all)
    const audit = await lastAudit(before.id)
    expect(audit?.action).toBe(`${kind.toLowerCase()}.update`)
    expect(audit?.details).toMatchObject({ changes: { name: { from: name, to: all.name } } })
  })

  test('a record can be deleted once', async () => {
    const { id, name } = await sample()
    expect(await remove(kind, id)).toMatchObject({ status: 204, text: '' })
    expect(await lastAudit(id)).toMatchObject({ action: `${kind.toLowerCase()}.delete`, details: { name } })
    for (const answer of [await read(kind, id), await remove(kind, id), await update(kind, id, {})]) {
      expect(refusal(answer)).toEqual(refused(404, 'NOT_FOUND'))
    }
  })

  test('an invalid body is reported before a missing record', async () => {
    expect(refusal(await update(kind, UNKNOWN_ID, { nmae: 'x' }))).toMatchObject(
      refused(400, 'VALIDATION_ERROR', { errors: [{ path: '/nmae' }] }),
    )
    expect(refusal(await update(kind, UNKNOWN_ID, { name: null })).status).toBe(400)
    expect(refusal(await update(kind, 'nonsense', {}))).toEqual(refused(404, 'NOT_FOUND'))
  })

  if (kind !== 'Freeze') {
    test('a name that another record has is refused', async () => {
      const [one, other] = [await sample(), await sample()]
      expect(refusal(await update(kind, one.id, { name: other.name }))).toEqual(taken('/name'))
    })
  }
})

test('only the name and the description of a source can change', async () => {
  const { id } = await source('action', script())
  for (const change of [{ version: '2.0.0' }, { definition: script() }, { tenant_id: null }]) {
    expect(refusal(await update('Action', id, change))).toMatchObject(refused(400, 'VALIDATION_ERROR'))
  }
})

describe('callers of a tenant', () => {
  const OF: [Kind, (tenant_id: string | null) => Promise<{ id: string }>][] = [
    ['Action', (tenant_id) => source('action', script(), { tenant_id })],
    ['Target', (tenant_id) => target({ tenant_id })],
    ['Environment', (tenant_id) => create('Environment', { tenant_id })],
    ['Freeze', (tenant_id) => create('Freeze', { ...times, tenant_id })],
  ]
  test.each(OF)('%s: can change their own records but not shared ones, and see no foreign ones', async (kind, make) => {
    const [own, shared, foreign] = [await make(tenants.a), await make(null), await make(tenants.b)]
    expect((await update(kind, own.id, { description: 'ours' }, ofA)).status).toBe(200)
    for (const write of [
      (id: string) => update(kind, id, { description: 'x' }, ofA),
      (id: string) => remove(kind, id, ofA),
    ]) {
      expect(refusal(await write(shared.id))).toEqual(refused(403, 'INSUFFICIENT_PERMISSIONS'))
      expect(refusal(await write(foreign.id))).toEqual(refused(404, 'NOT_FOUND'))
    }
    if (kind !== 'Action') {
      expect((await update(kind, own.id, { tenant_id: null }, ofA)).body.tenant_id).toBe(tenants.a)
      expect(refusal(await update(kind, own.id, { tenant_id: tenants.b }, ofA)).status).toBe(404)
    }
    expect((await remove(kind, own.id, ofA)).status).toBe(204)
  })

  test('cannot change or delete a tenant, not even their own', async () => {
    expect(refusal(await update('Tenant', tenants.a, { name: 'Mine' }, ofA))).toEqual(refused(403, 'FORBIDDEN'))
    expect(refusal(await remove('Tenant', tenants.a, ofA))).toEqual(refused(403, 'FORBIDDEN'))
    expect(refusal(await update('Tenant', tenants.b, { name: 'Mine' }, ofA))).toEqual(refused(404, 'NOT_FOUND'))
    expect(refusal(await remove('Tenant', tenants.b, ofA))).toEqual(refused(404, 'NOT_FOUND'))
  })
})

describe('deletion is refused', () => {
  const frees = async (kind: Kind, id: string, release: () => Promise<unknown>) => {
    expect(refusal(await remove(kind, id))).toEqual(conflict)
    await release()
    expect((await remove(kind, id)).status).toBe(204)
  }

  test('for a source that versions of other sources or freezes use', async () => {
    const action = await source('action', script())
    const sequence = await source('sequence', { actions: [{ action_id: action.id }] })
    const solution = await source('solution', { sequences: [{ sequence_id: sequence.id }] })
    const freeze = await create('Freeze', { ...times, solution_id: solution.id })
    await frees('Action', action.id, () =>
      frees('Sequence', sequence.id, () => frees('Solution', solution.id, () => remove('Freeze', freeze.id))),
    )
  })

  test('for a source and a target that unfinished deployments use', async () => {
    const action = await source('action', script())
    const machine = await target()
    const deployment = await addDeployment(gateway.database, { state: 'running' })
    await gateway.database.query('UPDATE deployment_actions SET action_id = $2 WHERE deployment_id = $1', [
      deployment,
      action.id,
    ])
    await gateway.database.query(
      'UPDATE deployment_targets SET target_id = $2 WHERE deployment_id = $1 AND target_index = 0',
      [deployment, machine.id],
    )
    const end = () =>
      gateway.database.query(`UPDATE deployments SET state = 'success', completed_at = now() WHERE id = $1`, [
        deployment,
      ])
    await frees('Action', action.id, () => frees('Target', machine.id, end))
  })

  test('for a source and a target that pending requests use', async () => {
    const action = await source('action', script())
    const machine = await target()
    const waiting = await addPending(gateway.database)
    await gateway.database.query('UPDATE pending_requests SET command = $2 WHERE id = $1', [
      waiting,
      { plan: { source: { id: action.id }, actions: [], targets: [{ id: machine.id }] } },
    ])
    const end = () =>
      gateway.database.query(`UPDATE pending_requests SET status = 'cancelled' WHERE id = $1`, [waiting])
    await frees('Action', action.id, () => frees('Target', machine.id, end))
  })

  test('for an environment that targets, freezes or deployments use, even ended deployments', async () => {
    const { id } = await create('Environment', {})
    const machine = await target({ environment_id: id })
    const freeze = await create('Freeze', { ...times, environment_id: id })
    const deployment = await addDeployment(gateway.database, { state: 'success' })
    const carry = (value: string | null) =>
      gateway.database.query('UPDATE deployments SET environment_id = $2 WHERE id = $1', [deployment, value])
    await frees('Environment', id, async () => {
      await update('Target', machine.id, { environment_id: null })
      expect(refusal(await remove('Environment', id))).toEqual(conflict)
      await remove('Freeze', freeze.id)
      await carry(id)
      expect(refusal(await remove('Environment', id))).toEqual(conflict)
      await carry(null)
    })
  })

  test('for a tenant that environments or users belong to', async () => {
    const { id } = await create('Tenant', {})
    const environment = await create('Environment', { tenant_id: id })
    const user = await addUser(gateway, { role: 'user', tenant_id: id })
    await frees('Tenant', id, async () => {
      await remove('Environment', environment.id)
      expect(refusal(await remove('Tenant', id))).toEqual(conflict)
      await admin.send('deleteUser', `/admin/users/${user.id}`)
    })
  })

  test('a source is not both used by a new version and deleted at the same time', async () => {
    for (let round = 0; round < 8; round += 1) {
      const action = await source('action', script())
      const body = { name: unique('Sequence'), version: '1.0.0', definition: { actions: [{ action_id: action.id }] } }
      const [published, deleted] = await Promise.all([
        admin.send('createSequence', '/sequences', body),
        remove('Action', action.id),
      ])
      expect([
        [201, 409],
        [404, 204],
        [409, 204],
      ]).toContainEqual([published.status, deleted.status])
    }
  })
})

describe('tenants of records', () => {
  test('a target moves to another tenant only with an environment of that tenant', async () => {
    const environment = await create('Environment', { tenant_id: tenants.a })
    const { id } = await target({ tenant_id: tenants.a, environment_id: environment.id })
    const misfit = (path: string) => refused(400, 'VALIDATION_ERROR', { errors: [{ path }] })
    expect(refusal(await update('Target', id, { tenant_id: tenants.b }))).toMatchObject(misfit('/tenant_id'))
    const both = { tenant_id: tenants.b, environment_id: environment.id }
    expect(refusal(await update('Target', id, both))).toMatchObject(misfit('/environment_id'))
    const moved = { tenant_id: tenants.b, environment_id: null }
    expect((await update('Target', id, moved)).body).toMatchObject(moved)
  })

  test('an environment in use cannot move to another tenant', async () => {
    const { id } = await create('Environment', { tenant_id: tenants.a })
    const machine = await target({ tenant_id: tenants.a, environment_id: id })
    expect(refusal(await update('Environment', id, { tenant_id: tenants.b }))).toEqual(conflict)
    await remove('Target', machine.id)
    expect((await update('Environment', id, { tenant_id: tenants.b })).body.tenant_id).toBe(tenants.b)
  })

  test('a freeze of a tenant needs an environment of the same tenant', async () => {
    const environment = await create('Environment', { tenant_id: tenants.a })
    const { id } = await create('Freeze', { ...times, tenant_id: tenants.a, environment_id: environment.id })
    expect(refusal(await update('Freeze', id, { tenant_id: tenants.b }))).toMatchObject(
      refused(400, 'VALIDATION_ERROR', { errors: [{ path: '/environment_id' }] }),
    )
  })
})

describe('variables', () => {
  type Given = { variables?: object; sensitive_variables?: string[] }
  const OWNERS: [Kind, (given: Given) => Promise<{ id: string }>, string][] = [
    ['Target', (given) => target(given), 'targets'],
    ['Environment', (given) => create('Environment', given), 'environments'],
    ['Tenant', (given) => create('Tenant', given), 'tenants'],
  ]
  const wrong = (path: string) => refused(400, 'VALIDATION_ERROR', { errors: [{ path, message: expect.any(String) }] })

  describe.each(OWNERS)('%s:', (kind, make, table) => {
    const marked = { variables: { token: 'hush-hush', region: 'eu', gone: 1 }, sensitive_variables: ['token'] }
    const open = async (id: string) => {
      const sealed = (await row(table, id))['variables_sealed'] as string
      return JSON.parse(gateway.dependencies.keys.openText(sealed, `${kind.toLowerCase()}:${id}:variables`))
    }

    test('a masked value that is sent back keeps the stored value', async () => {
      const { id } = await make(marked)
      const changed = await update(kind, id, { variables: { token: '***', region: '***' } })
      expect(changed.body).toMatchObject({
        variables: { token: '***', region: '***' },
        sensitive_variables: ['token'],
      })
      // *** keeps the old value only of a masked name. For any other name it is the new value.
      expect(await open(id)).toEqual({ token: 'hush-hush', region: '***' })
      expect(JSON.stringify(await lastAudit(id))).not.toContain('hush')
      expect((await lastAudit(id))?.details).toMatchObject({ variables: { set: ['region'], removed: ['gone'] } })
      await update(kind, id, { name: unique('Renamed') })
      expect(await open(id)).toEqual({ token: 'hush-hush', region: '***' })
      await update(kind, id, { variables: {} })
      expect(await row(table, id)).toMatchObject({ variables_sealed: null, sensitive_variables: [] })
      const copy = {
        name: unique(kind),
        variables: { token: '***' },
        sensitive_variables: ['token'],
        ...(kind === 'Target' ? { connection: { type: 'local' } } : {}),
      }
      expect(refusal(await admin.send(`create${kind}` as OperationId, PATHS[kind], copy))).toEqual(
        wrong('/variables/token'),
      )
    })

    test('a name stays sensitive until a request has a new value and a list without the name', async () => {
      const { id } = await make(marked)
      for (const attempt of [
        { sensitive_variables: [] },
        { sensitive_variables: [], variables: { token: '***' } },
        { sensitive_variables: ['region'], variables: { token: '***', region: 'eu-west' } },
      ]) {
        const answer = await update(kind, id, attempt)
        expect(refusal(answer)).toEqual(wrong('/sensitive_variables'))
        expect(answer.body.error.details.errors[0].message).toContain('send a new value')
      }
      // A new value without a list keeps the name sensitive.
      const renewed = await update(kind, id, { variables: { token: 'new-secret' } })
      expect(renewed.body).toMatchObject({ variables: { token: '***' }, sensitive_variables: ['token'] })
      expect(await open(id)).toEqual({ token: 'new-secret' })
      const shown = await update(kind, id, { variables: { token: 'no-secret' }, sensitive_variables: [] })
      expect(shown.body).toMatchObject({ variables: { token: 'no-secret' }, sensitive_variables: [] })
      expect((await lastAudit(id))?.details).toMatchObject({
        variables: { set: ['token'], made_readable: ['token'], made_sensitive: [] },
      })
    })

    test('the list alone makes a variable sensitive, also together with its masked value', async () => {
      const { id } = await make({ variables: { token: 'hush-hush', region: 'eu-west' } })
      const one = await update(kind, id, { sensitive_variables: ['token', 'token'] })
      expect(one.body).toMatchObject({
        variables: { token: '***', region: 'eu-west' },
        sensitive_variables: ['token'],
      })
      expect((await lastAudit(id))?.details).toMatchObject({ variables: { set: [], made_sensitive: ['token'] } })
      const both = await update(kind, id, {
        variables: { token: '***', region: '***' },
        sensitive_variables: ['token', 'region'],
      })
      expect(both.body.variables).toEqual({ token: '***', region: '***' })
      expect(await open(id)).toEqual({ token: 'hush-hush', region: 'eu-west' })
    })

    test('names without a variable and values too short to mask are refused', async () => {
      const { id } = await make({ variables: { token: 'hush-hush', pin: 123 } })
      const cases: [object, string][] = [
        [{ sensitive_variables: ['token', 'other'] }, '/sensitive_variables/1'],
        [{ variables: { a: 'long enough' }, sensitive_variables: ['token'] }, '/sensitive_variables/0'],
        [{ sensitive_variables: ['token', 'pin'] }, '/sensitive_variables/1'],
        [{ variables: { token: 'abc' }, sensitive_variables: ['token'] }, '/variables/token'],
        [{ variables: { region: { $sealed: 'v1.test.x' } } }, '/variables/region'],
      ]
      for (const [change, path] of cases) expect(refusal(await update(kind, id, change))).toEqual(wrong(path))
      expect((await read(kind, id)).body).toMatchObject({
        variables: { token: 'hush-hush', pin: 123 },
        sensitive_variables: [],
      })
    })

    test('the audit record does not reveal whether a guessed value is right', async () => {
      const { id } = await make(marked)
      const detailsAfter = async (token: string) => {
        await update(kind, id, { variables: { token, region: 'eu', gone: 1 } })
        return (await lastAudit(id))?.details
      }
      expect(await detailsAfter('hush-hush')).toEqual(await detailsAfter('a wrong guess'))
    })
  })

  test('values in entries of definitions are sealed, and masked where their name is sensitive', async () => {
    const action = await source('action', script())
    const entry = { action_id: action.id, variables: { token: 'planted-secret', region: 'planted-region' } }
    const definition = { actions: [entry, { action_id: action.id }, { action_id: action.id, variables: {} }] }
    const { id } = await source('sequence', definition)
    const { rows } = await gateway.database.query<{ text: string }>(
      'SELECT to_jsonb(v)::text AS text FROM source_versions v WHERE source_id = $1',
      [id],
    )
    expect(rows[0]?.text).not.toContain('planted')
    const version = await admin.send('getSequenceVersion', `/sequences/${id}/versions/1.0.0`)
    const shown = { ...entry, variables: { token: '***', region: 'planted-region' } }
    expect(version.body.definition).toEqual({ actions: [shown, ...definition.actions.slice(1)] })
    const again = { version: '1.1.0', definition: version.body.definition }
    expect(refusal(await admin.send('createSequenceVersion', `/sequences/${id}/versions`, again))).toMatchObject(
      refused(400, 'VALIDATION_ERROR', { errors: [{ path: '/definition/actions/0/variables/token' }] }),
    )
    // A name that becomes sensitive later is masked from then on.
    await source('action', script({ variables: [{ name: 'region', sensitive: true }] }))
    const later = await admin.send('getSequenceVersion', `/sequences/${id}/versions/1.0.0`)
    expect(later.body.definition.actions[0].variables).toEqual({ token: '***', region: '***' })
  })
})

describe('connections', () => {
  const ssh = { type: 'ssh', host: 'one.example.com', username: 'deploy' }
  const secrets = async (id: string) => {
    const sealed = (await row('targets', id))['connection_secrets'] as string | null
    return sealed && JSON.parse(gateway.dependencies.keys.openText(sealed, `target:${id}:connection`))
  }
  const addFacts = (id: string) =>
    gateway.database.query('INSERT INTO target_facts (target_id, host_key) VALUES ($1, $2)', [id, 'pinned'])

  test('secrets are kept while the connection leads to the same place', async () => {
    const { id } = await target({ connection: { ...ssh, password: 'hush-hush' } })
    await addFacts(id)
    const connection = { ...ssh, port: 22, host_key: `SHA256:${'A'.repeat(43)}` }
    expect((await update('Target', id, { connection })).body.connection).toEqual(connection)
    expect(await secrets(id)).toEqual({ password: 'hush-hush' })
    expect((await update('Target', id, { connection: ssh })).body.connection).toEqual({
      ...ssh,
      port: 22,
      host_key: 'pinned',
    })
    const private_key = newPrivateKey()
    await update('Target', id, { connection: { ...ssh, private_key } })
    expect(await secrets(id)).toEqual({ private_key })
    const audit = JSON.stringify(await lastAudit(id))
    expect(audit).toContain('"secrets_changed":true')
    expect(audit).not.toMatch(/hush|PRIVATE KEY/)
    expect(await lastMessage()).toEqual({ type: 'target.updated', body: { target_id: id, tenant_id: null } })
  })

  test.each([{ host: 'two.example.com' }, { port: 2222 }, { username: 'root' }])(
    'a connection with another %j needs its secrets again',
    async (more) => {
      const { id } = await target({ connection: { ...ssh, password: 'hush-hush' } })
      const connection = { ...ssh, ...more }
      expect(refusal(await update('Target', id, { connection }))).toMatchObject(
        refused(400, 'VALIDATION_ERROR', { errors: [{ path: '/connection' }] }),
      )
      await update('Target', id, { connection: { ...connection, password: 'for there' } })
      expect(await secrets(id)).toEqual({ password: 'for there' })
    },
  )

  test('the facts of the old host are deleted, and a change is refused while a run uses the target', async () => {
    const { id } = await target({ connection: { ...ssh, password: 'hush-hush' } })
    await addFacts(id)
    const deployment = await addDeployment(gateway.database, { state: 'running' })
    await gateway.database.query(
      'UPDATE deployment_targets SET target_id = $2 WHERE deployment_id = $1 AND target_index = 0',
      [deployment, id],
    )
    const connection = { ...ssh, host: 'two.example.com', password: 'for there' }
    expect(refusal(await update('Target', id, { connection }))).toEqual(conflict)
    await gateway.database.query(`UPDATE deployments SET state = 'failed', completed_at = now() WHERE id = $1`, [
      deployment,
    ])
    expect((await update('Target', id, { connection })).body.connection).not.toHaveProperty('host_key')
    await update('Target', id, { connection: { type: 'local' } })
    expect(await secrets(id)).toBeNull()
  })
})

describe('freezes', () => {
  const hour = 3_600_000
  const iso = (ago: number) => new Date(Date.now() - ago).toISOString()

  test('a recurring freeze is active in its windows', async () => {
    // The freeze began five weeks ago, one hour before this time of day.
    const weeks = 5 * 7 * 24 * hour
    const recurring = { start_time: iso(weeks + hour), end_time: iso(weeks - hour), recurrence: 'FREQ=WEEKLY' }
    const { id, ...freeze } = await create('Freeze', recurring)
    expect(freeze).toMatchObject({ ...recurring, active: true })
    expect((await update('Freeze', id, { recurrence: null })).body.active).toBe(false)
    expect((await update('Freeze', id, { recurrence: 'FREQ=WEEKLY;INTERVAL=2' })).body.active).toBe(false)
    expect((await update('Freeze', id, { recurrence: 'FREQ=DAILY' })).body.active).toBe(true)
    expect(await lastMessage()).toEqual({ type: 'freeze.updated', body: { freeze_id: id, tenant_id: null } })
    await remove('Freeze', id)
    expect(await lastMessage()).toEqual({ type: 'freeze.deleted', body: { freeze_id: id, tenant_id: null } })
  })

  test.each(['Target', 'Freeze'] as const)('%s: the event of a move names the previous tenant', async (kind) => {
    const { id } = kind === 'Target' ? await target({ tenant_id: tenants.a }) : await create('Freeze', times)
    const before = kind === 'Target' ? tenants.a : null
    expect((await update(kind, id, { tenant_id: tenants.b })).status).toBe(200)
    const body = expect.objectContaining({ tenant_id: tenants.b, previous_tenant_id: before })
    expect(await lastMessage()).toEqual({ type: `${kind.toLowerCase()}.updated`, body })
    expect((await update(kind, id, { tenant_id: tenants.b, description: 'stays' })).status).toBe(200)
    expect((await lastMessage())?.['body']).not.toHaveProperty('previous_tenant_id')
  })

  test('the offset of start_time is the offset of the freeze', async () => {
    const { id } = await create('Freeze', {
      start_time: '2026-01-01T00:00:00+05:30',
      end_time: '2026-01-01T00:00:00Z',
      recurrence: 'FREQ=DAILY',
    })
    expect(await row('freezes', id)).toMatchObject({ start_offset: '+05:30' })
    await update('Freeze', id, { end_time: '2025-12-31T23:00:00Z' })
    expect(await row('freezes', id)).toMatchObject({ start_offset: '+05:30' })
    await update('Freeze', id, { start_time: '2025-12-31T17:00:00-03:00' })
    expect(await row('freezes', id)).toMatchObject({ start_offset: '-03:00' })
  })

  test('a named time zone is stored and can be removed', async () => {
    const winter = { start_time: '2026-07-01T12:00:00+12:00', end_time: '2026-07-01T13:00:00+12:00' }
    const { id, ...freeze } = await create('Freeze', {
      ...winter,
      recurrence: 'FREQ=DAILY',
      time_zone: 'Pacific/Auckland',
    })
    expect(freeze['time_zone']).toBe('Pacific/Auckland')
    const { body } = await update('Freeze', id, { time_zone: 'Asia/Tokyo' })
    expect(body.time_zone).toBe('Asia/Tokyo')
    expect((await update('Freeze', id, { time_zone: null })).body.time_zone).toBeNull()
    expect((await create('Freeze', winter))['time_zone']).toBeNull()
  })

  test.each<[object, string]>([
    [{ recurrence: 'FREQ=SECONDLY' }, '/recurrence'],
    [{ recurrence: 'RRULE:FREQ=DAILY' }, '/recurrence'],
    [{ recurrence: 'every day' }, '/recurrence'],
    [{ recurrence: '' }, '/recurrence'],
    // The window lasts one day.
    [{ recurrence: 'FREQ=HOURLY' }, '/recurrence'],
    [{ recurrence: 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30' }, '/recurrence'],
    [{ recurrence: 'FREQ=DAILY', end_time: '2026-01-02T00:00:00.001Z' }, '/recurrence'],
    [{ time_zone: 'Europe/Atlantis' }, '/time_zone'],
    [{ time_zone: '+02:00' }, '/time_zone'],
    [{ end_time: '2025-12-31T00:00:00Z' }, '/end_time'],
    [{ start_time: '2026-02-01T00:00:00Z' }, '/end_time'],
    [{ start_time: '2016-12-31T23:59:60Z' }, '/start_time'],
  ])('%j is refused in a create and in an update', async (wrong, path) => {
    const error = refused(400, 'VALIDATION_ERROR', { errors: [{ path }] })
    const whole = { name: unique('Freeze'), ...times, ...wrong }
    expect(refusal(await admin.send('createFreeze', PATHS.Freeze, whole))).toMatchObject(error)
    const { id } = await create('Freeze', times)
    expect(refusal(await update('Freeze', id, wrong))).toMatchObject(error)
  })
})
