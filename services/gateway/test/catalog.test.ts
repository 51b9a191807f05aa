import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { SLIPWAY_VERSION, uuidv7 } from '@slipway/runtime'
import { newPrivateKey } from '@slipway/testing'
import {
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
beforeAll(async () => {
  gateway = await startGateway()
  admin = clientOf(gateway, gateway.adminToken)
})
afterAll(() => gateway.close())

let counter = 0
const unique = (name: string) => `${name} ${++counter}`
const script = (more: object = {}) => ({ type: 'script', script: 'echo hello', ...more })

async function newAction(definition: object = script()) {
  const { body } = await admin.send('createAction', '/actions', {
    name: unique('Action'),
    version: '1.0.0',
    definition,
  })
  return body as { id: string; sqid: string; name: string }
}

/** A stored row as text. */
async function rowText(table: string, column: string, id: string): Promise<string> {
  const { rows } = await gateway.database.query<{ text: string }>(
    `SELECT to_jsonb(r)::text AS text FROM ${table} r WHERE ${column} = $1`,
    [id],
  )
  expect(rows).toHaveLength(1)
  return rows[0]?.text ?? ''
}

describe('sources', () => {
  test('an action is returned as it was created, by UUID and by SqId', async () => {
    const name = unique('Restart')
    const created = await admin.send('createAction', '/actions', { name, version: '1.0.0', definition: script() })
    expect(created.status).toBe(201)
    expect(created.body).toMatchObject({ name, description: null, tenant_id: null, latest_version: '1.0.0' })
    for (const id of [created.body.id, created.body.id.toUpperCase(), created.body.sqid]) {
      const read = await admin.send('getAction', `/actions/${id}`)
      expect({ ...read.body, warnings: [] }).toEqual(created.body)
    }
    const version = await admin.send('getActionVersion', `/actions/${created.body.sqid}/versions/1.0.0`)
    expect(version.body.definition).toEqual(script())
  })

  test('an id of another kind, an unknown id and a malformed id are 404', async () => {
    const { sqid, id } = await newAction()
    for (const path of [`/sequences/${sqid}`, `/sequences/${id}`, `/sequences/${UNKNOWN_ID}`, '/sequences/nonsense']) {
      expect(refusal(await admin.send('getSequence', path))).toEqual(refused(404, 'NOT_FOUND'))
    }
    expect(refusal(await admin.send('getActionVersion', `/actions/${id}/versions/9.9.9`))).toEqual(
      refused(404, 'NOT_FOUND'),
    )
  })

  test('the latest version is the highest that is no prerelease, in any order of publication', async () => {
    const { id } = await newAction()
    for (const version of ['2.0.0', '1.5.0', '3.0.0-rc.1']) {
      const published = await admin.send('createActionVersion', `/actions/${id}/versions`, {
        version,
        definition: script(),
      })
      expect(published.status).toBe(201)
    }
    const { body } = await admin.send('getAction', `/actions/${id}`)
    expect(body.latest_version).toBe('2.0.0')
    expect(body.versions.map(({ version }: { version: string }) => version)).toEqual([
      '3.0.0-rc.1',
      '1.5.0',
      '2.0.0',
      '1.0.0',
    ])
    const page = await admin.send('listActionVersions', `/actions/${id}/versions?limit=3&page=2`)
    expect(page.body.data).toMatchObject([{ version: '1.0.0' }])
    expect(page.body.meta).toEqual({ total: 4, page: 2, limit: 3, total_pages: 2, has_next: false, has_prev: true })
  })

  test('a published version cannot be published again', async () => {
    const { id } = await newAction()
    const again = await admin.send('createActionVersion', `/actions/${id}/versions`, {
      version: '1.0.0',
      definition: script(),
    })
    expect(refusal(again)).toEqual(taken('/version'))
  })

  test('names are unique within a kind, also for concurrent creates', async () => {
    const body = { name: unique('Same'), version: '1.0.0', definition: script() }
    const both = await Promise.all([1, 2].map(() => admin.send('createAction', '/actions', body)))
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409])
  })

  test('sequences accept either id of an action and store the UUID; all unknown ids are reported', async () => {
    const { id, sqid } = await newAction()
    const sequence = (actions: object[]) =>
      admin.send('createSequence', '/sequences', {
        name: unique('Sequence'),
        version: '1.0.0',
        definition: { actions },
      })
    const created = await sequence([{ action_id: sqid }, { action_id: id, variables: { who: 'me' } }])
    const version = await admin.send('getSequenceVersion', `/sequences/${created.body.id}/versions/1.0.0`)
    expect(version.body.definition).toEqual({
      actions: [{ action_id: id }, { action_id: id, variables: { who: 'me' } }],
    })

    const { sqid: sequenceSqid } = created.body
    const missing = await sequence([{ action_id: UNKNOWN_ID }, { action_id: id }, { action_id: created.body.id }])
    expect(refusal(missing)).toEqual(
      refused(404, 'NOT_FOUND', {
        missing: [
          { path: '/definition/actions/0/action_id', id: UNKNOWN_ID },
          { path: '/definition/actions/2/action_id', id: created.body.id },
        ],
      }),
    )
    const solution = await admin.send('createSolution', '/solutions', {
      name: unique('Solution'),
      version: '1.0.0',
      definition: { sequences: [{ sequence_id: sequenceSqid, version_requirement: '^1.0.0' }] },
    })
    expect(solution.status).toBe(201)
  })

  test('sensitive defaults are sealed at rest and masked in answers', async () => {
    const secret = `planted-${uuidv7()}`
    const name = `secret_${counter}`
    const definition = script({
      variables: [
        { name, sensitive: true, default: secret },
        { name: 'plain', default: 'shown' },
      ],
    })
    const { id } = await newAction(definition)
    const { body } = await admin.send('getActionVersion', `/actions/${id}/versions/1.0.0`)
    expect(body.definition.variables).toMatchObject([
      { name, default: '***' },
      { name: 'plain', default: 'shown' },
    ])
    expect(await rowText('source_versions', 'source_id', id)).not.toContain(secret)
    // A client that publishes what it read would make *** the secret.
    const again = await admin.send('createActionVersion', `/actions/${id}/versions`, {
      version: '2.0.0',
      definition: body.definition,
    })
    expect(refusal(again)).toMatchObject(
      refused(400, 'VALIDATION_ERROR', { errors: [{ path: '/definition/variables/0/default' }] }),
    )
  })

  test('every problem of a definition is reported with its path', async () => {
    const response = await admin.send('createAction', '/actions', {
      name: unique('Wrong'),
      version: 'v1',
      definition: script({
        interpreter: 'perl',
        env: { PATH: '/tmp', LD_PRELOAD: 'x', FINE: 'y', LARGE: 'x'.repeat(122_875) },
        variables: [
          { name: 'count', type: 'number', default: 'three' },
          { name: 'COUNT' },
          { name: 'count' },
          { name: 'short', sensitive: true, default: 'abc' },
          { name: 'large', default: 'x'.repeat(122_870) },
        ],
      }),
    })
    const paths = response.body.error.details.errors.map(({ path }: { path: string }) => path)
    expect(paths.sort()).toEqual([
      '/definition/env/LARGE',
      '/definition/env/LD_PRELOAD',
      '/definition/env/PATH',
      '/definition/interpreter',
      '/definition/variables/0/default',
      '/definition/variables/1/name',
      '/definition/variables/2/name',
      '/definition/variables/3/default',
      '/definition/variables/4/default',
      '/version',
    ])
  })

  test('a declared name is refused where its value would be evaluated, with its place', async () => {
    const refusals = async (definition: object) => {
      const version = { name: unique('Places'), version: '1.0.0', definition: script(definition) }
      const { body } = await admin.send('createAction', '/actions', version)
      return body.error?.details.errors ?? []
    }
    const sum = 'echo a\necho $(( {{ n }} + 1 ))'
    const variables = [{ name: 'n' }]
    expect(await refusals({ script: sum, variables })).toMatchObject([
      { path: '/definition/script', message: expect.stringMatching(/^line 2, column 10: .*type number/) },
    ])
    expect(await refusals({ script: 'true', rollback: { script: 'eval {{ n }}' }, variables })).toMatchObject([
      { path: '/definition/rollback/script', message: expect.stringContaining('`eval`') },
    ])
    expect(await refusals({ script: 'true', check: { script: sum }, variables })).toMatchObject([
      { path: '/definition/check/script' },
    ])
    expect(await refusals({ script: sum, variables: [{ name: 'n', type: 'number' }] })).toEqual([])
    // Another name may be the text of another tool.
    expect(await refusals({ script: sum })).toEqual([])
    expect(await refusals({ script: 'eval {{ n }}', variables, templates: false })).toEqual([])
  })

  test.each(['~/site', '$HOME/app', '/srv/$' + '{APP}', '{{ d }}/app', '$(hostname)/app', '`hostname`/app'])(
    'a directory that looks expanded is refused: %s',
    async (path) => {
      const definition = script({ working_directory: path })
      const answer = await admin.send('createAction', '/actions', {
        name: unique('Paths'),
        version: '1.0.0',
        definition,
      })
      expect(refusal(answer)).toMatchObject({ status: 400 })
      expect(answer.body.error.details.errors).toMatchObject([{ path: '/definition/working_directory' }])
    },
  )

  test('a script is stored as its interpreter can read it, with warnings', async () => {
    const publish = (definition: object) =>
      admin.send('createAction', '/actions', { name: unique('Text'), version: '1.0.0', definition: script(definition) })
    const stored = async (definition: object) => {
      const { status, body } = await publish(definition)
      const version = await admin.send('getActionVersion', `/actions/${body.id}/versions/1.0.0`)
      return { status, warnings: body.warnings, ...version.body.definition }
    }
    expect(await stored({ script: '\uFEFFset -eu\r\nfalse\r\n' })).toMatchObject({
      ...{ status: 201, script: 'set -eu\nfalse\n', warnings: [expect.stringContaining('CRLF')] },
    })
    expect(await stored({ script: '#!/usr/bin/env bash\ntrue' })).toMatchObject({ interpreter: 'bash', warnings: [] })
    expect(await stored({ script: 'if true; then\n' })).toMatchObject({
      ...{ status: 201, warnings: [expect.stringContaining('cannot be read as sh')] },
    })
    expect((await publish({ script: '#!/bin/bash\ntrue', interpreter: 'sh' })).status).toBe(400)
    expect((await publish({ script: '#!/usr/bin/awk -f\n' })).status).toBe(400)
    expect((await publish({ script: 'é'.repeat(150_000) })).status).toBe(400)
  })
})

describe('targets', () => {
  test('secrets of a connection are sealed and never returned', async () => {
    const password = `planted-${uuidv7()}`
    const private_key = newPrivateKey()
    const connection = { type: 'ssh', host: '192.0.2.1', username: 'deploy', password, private_key }
    const created = await admin.send('createTarget', '/targets', { name: unique('ssh'), connection })
    expect(created.body.connection).toEqual({ type: 'ssh', host: '192.0.2.1', port: 22, username: 'deploy' })
    const row = await rowText('targets', 'id', created.body.id)
    for (const secret of [password, private_key.split('\n')[1]]) expect(row).not.toContain(secret)
    const { connection_secrets } = JSON.parse(row)
    const opened = gateway.dependencies.keys.openText(connection_secrets, `target:${created.body.id}:connection`)
    expect(JSON.parse(opened)).toEqual({ password, private_key })
  })

  test('the keys of a connection are read when they are saved', async () => {
    const connection = { type: 'ssh', host: '192.0.2.1', username: 'deploy' }
    const wrong = { ...connection, private_key: `ssh-ed25519 ${'A'.repeat(68)}`, host_key: 'web-1' }
    const refusal = {
      status: 400,
      body: {
        error: {
          code: 'VALIDATION_ERROR',
          details: {
            errors: [
              { path: '/connection/private_key', message: expect.stringContaining('is a public key') },
              { path: '/connection/host_key', message: expect.stringContaining('is no host key of a known type') },
            ],
          },
        },
      },
    }
    expect(await admin.send('createTarget', '/targets', { name: unique('ssh'), connection: wrong })).toMatchObject(
      refusal,
    )
    const { body } = await admin.send('createTarget', '/targets', { name: unique('ssh'), connection })
    expect(await admin.send('updateTarget', `/targets/${body.id}`, { connection: wrong })).toMatchObject(refusal)
  })

  test('sensitive variables of a record are sealed and masked in every answer', async () => {
    const variables = { token: 'planted-value', port: 8080 }
    const marked = { variables, sensitive_variables: ['token'] }
    const target = await admin.send('createTarget', '/targets', {
      name: unique('t'),
      connection: { type: 'local' },
      ...marked,
    })
    const environment = await admin.send('createEnvironment', '/environments', { name: unique('e'), ...marked })
    const tenant = await admin.send('createTenant', '/tenants', { name: unique('n'), ...marked })
    const masked = { variables: { token: '***', port: 8080 }, sensitive_variables: ['token'] }
    const answers = [
      target,
      environment,
      tenant,
      await admin.send('getTarget', `/targets/${target.body.id}`),
      await admin.send('getEnvironment', `/environments/${environment.body.sqid}`),
      await admin.send('getTenant', `/tenants/${tenant.body.sqid}`),
    ]
    for (const { body } of answers) expect(body).toMatchObject(masked)
    expect(await rowText('targets', 'id', target.body.id)).not.toContain('planted-value')
    for (const [operation, path] of [
      ['listTargets', '/targets'],
      ['listEnvironments', '/environments'],
      ['listTenants', '/tenants'],
      ['listAuditLogs', '/audit/logs'],
    ] as const) {
      expect(JSON.stringify((await admin.send(operation, path)).body)).not.toContain('planted-value')
    }
  })

  test('every name that a version of a source declares sensitive is stored once', async () => {
    const { id } = await newAction(script({ variables: [{ name: 'key', sensitive: true }, { name: 'region' }] }))
    const definition = script({
      variables: [
        { name: 'key', sensitive: true },
        { name: 'pin', sensitive: true },
      ],
    })
    await admin.send('createActionVersion', `/actions/${id}/versions`, { version: '1.1.0', definition })
    const { rows } = await gateway.database.query(
      'SELECT name FROM sensitive_names WHERE source_id = $1 ORDER BY name',
      [id],
    )
    expect(rows).toEqual([{ name: 'key' }, { name: 'pin' }])
  })

  test('a sensitive name of a source does not mask the variables of records', async () => {
    const name = `token_${++counter}`
    await newAction(script({ variables: [{ name, sensitive: true }] }))
    const target = await admin.send('createTarget', '/targets', {
      name: unique('t'),
      connection: { type: 'local' },
      variables: { [name]: 'shown-value' },
    })
    expect(target.body).toMatchObject({ variables: { [name]: 'shown-value' }, sensitive_variables: [] })
  })

  test('a deleted target leaves no lock', async () => {
    const { id: tenant_id } = (await admin.send('createTenant', '/tenants', { name: unique('Tenant') })).body
    const ofTenant = clientOf(gateway, (await addUser(gateway, { role: 'operator', tenant_id })).token)
    const body = { name: unique('t'), connection: { type: 'simulated' } }
    const { id } = (await ofTenant.send('createTarget', '/targets', body)).body
    await gateway.database.query('INSERT INTO target_locks (target_id) VALUES ($1)', [id])
    expect((await ofTenant.send('deleteTarget', `/targets/${id}`)).status).toBe(204)
    expect((await gateway.database.query('SELECT FROM target_locks WHERE target_id = $1', [id])).rowCount).toBe(0)
  })

  test('a local or simulated target is online with an instance; others are online after a connection', async () => {
    const make = async (connection: object) =>
      (await admin.send('createTarget', '/targets', { name: unique('seen'), connection })).body.id as string
    const local = await make({ type: 'local' })
    const ssh = await make({ type: 'ssh', host: 'h', username: 'u' })
    const statusOf = async (id: string) => (await admin.send('getTarget', `/targets/${id}`)).body.status
    const simulation = { type: 'simulated', duration_ms: 5, failure_rate: 0.5 }
    const simulated = await make(simulation)
    expect((await admin.send('getTarget', `/targets/${simulated}`)).body.connection).toEqual(simulation)
    const statuses = () => Promise.all([local, simulated, ssh].map(statusOf))
    expect(await statuses()).toEqual(['offline', 'offline', 'offline'])

    await gateway.database.query(
      `INSERT INTO instances (id, name, version, capacity, credential_hash, last_heartbeat_at)
       VALUES ($1, 'i', '${SLIPWAY_VERSION}', 1, 'x', now())`,
      [uuidv7()],
    )
    await gateway.database.query(
      `INSERT INTO target_facts (target_id, host_key, last_seen_at) VALUES ($1, 'ssh-ed25519 AAAA', now() - interval '5 min')`,
      [ssh],
    )
    expect(await statuses()).toEqual(['online', 'online', 'stale'])
    const read = await admin.send('getTarget', `/targets/${ssh}`)
    expect(read.body.connection.host_key).toBe('ssh-ed25519 AAAA')
  })

  test.each([
    ['environment', 'createEnvironment', 'updateEnvironment', 'getEnvironment', '/environments', {}],
    ['target', 'createTarget', 'updateTarget', 'getTarget', '/targets', { connection: { type: 'simulated' } }],
  ] as const)('%s: a change without concurrency keeps it', async (kind, create, update, get, path, more) => {
    const plain = await admin.send(create, path, { name: unique(kind), ...more })
    expect(plain.body).toMatchObject({ concurrency: null })
    const { id } = (await admin.send(create, path, { name: unique(kind), concurrency: 'queue', ...more })).body
    const change = async (body: object) => {
      await admin.send(update, `${path}/${id}`, body)
      return (await admin.send(get, `${path}/${id}`)).body
    }
    expect(await change({ description: 'other' })).toMatchObject({ concurrency: 'queue' })
    expect(await change({ concurrency: 'supersede' })).toMatchObject({ concurrency: 'supersede' })
    expect(await change({ concurrency: null })).toMatchObject({ concurrency: null })
    const wrong = await admin.send(create, path, { name: unique(kind), concurrency: 'sometimes', ...more })
    expect(refusal(wrong)).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
  })

  test('tags are listed by key and value with the count of their targets', async () => {
    const tag = (key: string, value: string) => ({ key, value })
    const make = (tags: object[]) =>
      admin.send('createTarget', '/targets', { name: unique('tagged'), connection: { type: 'local' }, tags })
    const created = await make([tag('zone', 'b'), tag('zone', 'a'), tag('zone', 'b')])
    expect(created.body.tags).toEqual([tag('zone', 'a'), tag('zone', 'b')])
    await make([tag('zone', 'b'), tag('app', '100%')])
    const all = await admin.send('listTags', '/tags')
    expect(all.body.data).toEqual([
      { ...tag('app', '100%'), target_count: 1 },
      { ...tag('zone', 'a'), target_count: 1 },
      { ...tag('zone', 'b'), target_count: 2 },
    ])
    expect((await admin.send('listTags', '/tags?search=ONE%3Da')).body.meta.total).toBe(1)
    expect((await admin.send('listTags', '/tags?search=%25')).body.data).toMatchObject([{ value: '100%' }])
  })

  test('the list filters by environment, tag, status and enabled, alone and together', async () => {
    const environment = (await admin.send('createEnvironment', '/environments', { name: unique('env') })).body
    const prefix = unique('filtered')
    const make = async (name: string, more: object) =>
      (await admin.send('createTarget', '/targets', { name: `${prefix} ${name}`, ...more })).body.id as string
    const simulated = { connection: { type: 'simulated' } }
    const ssh = { connection: { type: 'ssh', host: 'h', username: 'u' } }
    const tags = (...values: string[]) => ({ tags: values.map((value) => ({ key: 'rack', value })) })
    await make('a', { ...simulated, ...tags('1=2'), environment_id: environment.id })
    await make('b', { ...ssh, ...tags('1'), environment_id: environment.id, enabled: false })
    const c = await make('c', { ...ssh, ...tags('1', '2') })
    await gateway.database.query(
      `INSERT INTO instances (id, name, version, capacity, credential_hash, last_heartbeat_at)
       VALUES ($1, $2, '${SLIPWAY_VERSION}', 1, 'x', now())`,
      [uuidv7(), unique('instance')],
    )
    await gateway.database.query(
      `INSERT INTO target_facts (target_id, last_seen_at) VALUES ($1, now() - interval '5 min')`,
      [c],
    )
    const found = async (query: string) => {
      const { body } = await admin.send('listTargets', `/targets?search=${encodeURIComponent(prefix)}&${query}`)
      expect(body.meta.total).toBe(body.data.length)
      return body.data.map(({ name }: { name: string }) => name.at(-1)).join('')
    }
    expect(await found('')).toBe('cba')
    expect(await found(`environment_id=${environment.id}`)).toBe('ba')
    expect(await found(`environment_id=${environment.sqid}`)).toBe('ba')
    expect(await found(`environment_id=${UNKNOWN_ID}`)).toBe('')
    expect(await found('tag=rack')).toBe('cba')
    expect(await found('tag=rack%3D1')).toBe('cb')
    expect(await found('tag=rack%3D1%3D2')).toBe('a')
    expect(await found('tag=rack%3D')).toBe('')
    expect(await found('enabled=false')).toBe('b')
    expect([await found('status=online'), await found('status=stale'), await found('status=offline')]).toEqual([
      'a',
      'c',
      'b',
    ])
    expect(await found(`tag=rack%3D1&environment_id=${environment.id}&status=offline&enabled=false`)).toBe('b')
    expect(await found(`tag=rack%3D1&environment_id=${environment.id}&enabled=true`)).toBe('')
    const page = await admin.send(
      'listTargets',
      `/targets?search=${encodeURIComponent(prefix)}&tag=rack&limit=1&page=2`,
    )
    expect(page.body).toMatchObject({ data: [{ name: `${prefix} b` }], meta: { total: 3 } })
    for (const query of ['tag=%3Dx', 'tag=', 'status=gone', 'enabled=yes', 'environment_id=x y']) {
      expect((await admin.send('listTargets', `/targets?${query}`)).status).toBe(400)
    }
  })

  test('creating a target sends the event target.created', async () => {
    const { body } = await admin.send('createTarget', '/targets', {
      name: unique('told'),
      connection: { type: 'local' },
    })
    const { rows } = await gateway.database.query(
      `SELECT body FROM outbox WHERE type = 'target.created' AND body ->> 'target_id' = $1`,
      [body.id],
    )
    expect(rows).toEqual([{ body: { target_id: body.id, tenant_id: null } }])
  })
})

describe('tenants', () => {
  test('the slug is derived from the name and made unique; a given slug must be unused', async () => {
    const first = await admin.send('createTenant', '/tenants', { name: 'Café Noir!' })
    const second = await admin.send('createTenant', '/tenants', { name: 'Café noir' })
    expect([first.body.slug, second.body.slug]).toEqual(['cafe-noir', 'cafe-noir-2'])
    const third = await admin.send('createTenant', '/tenants', { name: 'Other', slug: 'cafe-noir' })
    expect(refusal(third)).toEqual(taken('/slug'))
    expect((await admin.send('createTenant', '/tenants', { name: '株式会社' })).body.slug).toBe('tenant')
  })
})

describe('freezes', () => {
  const at = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()

  test('show whether they are active, and creating one sends the event freeze.created', async () => {
    const make = (start: number, end: number) =>
      admin.send('createFreeze', '/deployment-freezes', {
        name: `Freeze ${start}`,
        start_time: at(start),
        end_time: at(end),
      })
    const now = await make(-1, 10)
    const later = await make(10, 20)
    expect(now.body).toMatchObject({ active: true, created_by: 'admin', tenant_id: null, solution_id: null })
    expect(later.body.active).toBe(false)
    expect((await admin.send('getFreeze', `/deployment-freezes/${now.body.id}`)).body).toEqual(now.body)
    expect(await make(-1, 10)).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } })
    const list = await admin.send('listFreezes', '/deployment-freezes?limit=1')
    expect(list.body).toMatchObject({ data: [{ id: later.body.id }], meta: { total: 2 } })
    const { rowCount } = await gateway.database.query(`SELECT FROM outbox WHERE type = 'freeze.created'`)
    expect(rowCount).toBe(2)
  })

  test('are refused if they end before they start, at impossible times, or for unknown records', async () => {
    const make = (body: object) => admin.send('createFreeze', '/deployment-freezes', { name: 'Wrong', ...body })
    const at9 = '2026-01-31T09:00:00Z'
    expect(refusal(await make({ start_time: at9, end_time: '2026-01-31T10:00:00+01:00' }))).toMatchObject(
      refused(400, 'VALIDATION_ERROR', { errors: [{ path: '/end_time' }] }),
    )
    expect(refusal(await make({ start_time: '2026-01-31', end_time: at9 }))).toMatchObject(
      refused(400, 'VALIDATION_ERROR'),
    )
    expect(refusal(await make({ start_time: at9 }))).toEqual(refused(400, 'MISSING_FIELD', { fields: ['end_time'] }))
    const scoped = await make({ start_time: at9, end_time: at(1), tenant_id: UNKNOWN_ID, solution_id: UNKNOWN_ID })
    expect(refusal(scoped)).toEqual(
      refused(404, 'NOT_FOUND', {
        missing: [
          { path: '/tenant_id', id: UNKNOWN_ID },
          { path: '/solution_id', id: UNKNOWN_ID },
        ],
      }),
    )
  })
})

describe('lists', () => {
  test('page and limit are moved into their range, and a page after the last one is empty', async () => {
    const total = 5
    for (let i = 0; i < total; i += 1) await admin.send('createEnvironment', '/environments', { name: `list_${i}` })
    const list = async (query: string) =>
      (await admin.send('listEnvironments', `/environments?search=list_&${query}`)).body
    const names = (body: { data: { name: string }[] }) => body.data.map(({ name }) => name)
    expect(names(await list('limit=2'))).toEqual(['list_0', 'list_1'])
    expect((await list('limit=2')).meta).toEqual({
      total,
      page: 1,
      limit: 2,
      total_pages: 3,
      has_next: true,
      has_prev: false,
    })
    expect(names(await list('limit=2&page=3'))).toEqual(['list_4'])
    expect((await list('page=0&limit=0')).meta).toMatchObject({ page: 1, limit: 1 })
    expect((await list('page=-7&limit=1000')).meta).toMatchObject({ page: 1, limit: 100 })
    for (const page of ['9', '99999999999999']) {
      const beyond = await list(`limit=2&page=${page}`)
      expect(beyond).toMatchObject({ data: [], meta: { total, total_pages: 3, has_next: false, has_prev: true } })
    }
  })

  test('environments come by position, those without one last, then by name', async () => {
    const given = [
      ['place a', null],
      ['place z', 0],
      ['place c', 10],
      ['place b', 10],
    ] as const
    for (const [name, position] of given) {
      const { body } = await admin.send('createEnvironment', '/environments', { name, position })
      expect(body.position).toBe(position)
    }
    const list = async () => (await admin.send('listEnvironments', '/environments?search=place%20')).body.data
    const before = await list()
    expect(before.map(({ name }: { name: string }) => name)).toEqual(['place z', 'place b', 'place c', 'place a'])
    await admin.send('updateEnvironment', `/environments/${before[0].id}`, { position: null })
    expect((await list()).map(({ name }: { name: string }) => name)).toEqual([
      ...['place b', 'place c', 'place a', 'place z'],
    ])
    const negative = await admin.send('createEnvironment', '/environments', { name: 'place -', position: -1 })
    expect(refusal(negative)).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
  })

  test('the search finds a substring without regard to case and does not interpret wildcards', async () => {
    for (const name of ['Percent 100%', 'Percent 1000', 'Back\\slash'])
      await admin.send('createEnvironment', '/environments', { name })
    const found = async (search: string) => {
      const { body } = await admin.send('listEnvironments', `/environments?search=${encodeURIComponent(search)}`)
      return body.data.map(({ name }: { name: string }) => name)
    }
    expect(await found('pERCENT')).toEqual(['Percent 100%', 'Percent 1000'])
    expect(await found('100%')).toEqual(['Percent 100%'])
    expect(await found('k\\s')).toEqual(['Back\\slash'])
    expect(await found("' OR 1=1 --")).toEqual([])
  })
})

describe('the manager of a record', () => {
  const definition = { type: 'script', script: 'true' }
  const kinds = [
    ['Action', '/actions', { version: '1.0.0', definition }],
    ['Target', '/targets', { connection: { type: 'simulated' } }],
    ['Environment', '/environments', {}],
    ['Tenant', '/tenants', {}],
    ['Freeze', '/deployment-freezes', { start_time: '2036-01-01T00:00:00Z', end_time: '2036-01-02T00:00:00Z' }],
  ] as const

  test.each(kinds)('is shown, filtered by, kept, changed and removed for the kind %s', async (kind, path, body) => {
    const managed_by = unique('set').replace(' ', '/')
    const list = async (manager: string) => {
      const { body: page } = await admin.send(`list${kind}s`, `${path}?managed_by=${encodeURIComponent(manager)}`)
      expect(page.meta.total).toBe(page.data.length)
      return page.data.map(({ id, managed_by: of }: { id: string; managed_by: string }) => [id, of])
    }
    const other = await admin.send(`create${kind}`, path, { name: unique('by hand'), ...body })
    expect(other.body.managed_by).toBeNull()
    const { body: made, status } = await admin.send(`create${kind}`, path, {
      name: unique('managed'),
      managed_by,
      ...body,
    })
    expect([status, made.managed_by]).toEqual([201, managed_by])
    expect(await list(managed_by)).toEqual([[made.id, managed_by]])

    const change = (fields: object) => admin.send(`update${kind}`, `${path}/${made.id}`, fields)
    expect((await change({ description: 'another' })).body).toMatchObject({ managed_by })
    expect((await change({ managed_by: 'other' })).body).toMatchObject({ managed_by: 'other', description: 'another' })
    expect(await list(managed_by)).toEqual([])
    expect((await change({ managed_by: null })).body.managed_by).toBeNull()
    expect(refusal(await change({ managed_by: 'not a name' }))).toMatchObject({ status: 400 })
  })
})

test('a target shows why and since when it is unreachable', async () => {
  const connection = { type: 'ssh', host: 'h', username: 'u' }
  const { id } = (await admin.send('createTarget', '/targets', { name: unique('unreached'), connection })).body
  const read = async () => (await admin.send('getTarget', `/targets/${id}`)).body
  expect(await read()).toMatchObject({
    status: 'offline',
    last_error: expect.stringMatching(/^no instance has probed the target yet/),
    unreachable_since: null,
  })
  await gateway.database.query(
    `INSERT INTO target_facts (target_id, last_error, failing_since) VALUES ($1, 'connection refused by h:22', now())`,
    [id],
  )
  expect(await read()).toMatchObject({
    last_error: 'connection refused by h:22',
    unreachable_since: expect.stringMatching(/^\d{4}-/),
  })
  await gateway.database.query("UPDATE target_facts SET last_seen_at = now() + interval '1 s' WHERE target_id = $1", [
    id,
  ])
  expect(await read()).toMatchObject({ status: 'online', last_error: null, unreachable_since: null })
})
