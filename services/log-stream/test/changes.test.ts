import { get } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { callHandler } from '@slipway/broker'
import type { EventType, StreamResource } from '@slipway/contracts'
import type { Database } from '@slipway/database'
import { listItem } from '@slipway/database/read-models'
import { COMPATIBLE_VERSION, uuidv7 } from '@slipway/runtime'
import {
  addPending,
  keptLog,
  type OpenTestDatabase,
  openTestDatabase,
  sqlOf,
  valuesOf,
  waitFor,
} from '@slipway/testing'
import { changeHandlers } from '../src/changes/change.ts'
import { TestDeployment } from './deployment.ts'
import { droppedFor, openStreams } from './metrics.ts'
import {
  makeUser,
  type NewUser,
  type StreamsOptions,
  startStreams,
  TEST_KEYS,
  type TestStreams,
  until,
} from './setup.ts'
import { openStalled, SseClient } from './sse.ts'

const ALL = ['deployments:read', 'targets:read', 'instances:read', 'freezes:read']

let db: OpenTestDatabase
let streams: TestStreams
const clients: SseClient[] = []

beforeAll(async () => {
  db = await openTestDatabase()
  streams = await startStreams({ database: db.database })
})
afterEach(() => {
  for (const client of clients.splice(0)) client.close()
})
afterAll(async () => {
  await streams?.close()
  await db?.drop()
})

const urlOf = async (resource: string, user: NewUser = {}, on = streams) =>
  `${on.url}/api/v1/sse/${resource}?sse_token=${await on.token({ permissions: ALL, ...user })}`

async function listen(resource: StreamResource, user: NewUser = {}, on = streams): Promise<SseClient> {
  const client = await SseClient.openAt(await urlOf(resource, user, on))
  clients.push(client)
  await until(() => client.messages.length > 0, 'the ping')
  return client
}

async function withStreams(options: Partial<StreamsOptions>, use: (own: TestStreams) => Promise<void>): Promise<void> {
  const own = await startStreams({ database: db.database, ...options })
  try {
    await use(own)
  } finally {
    await own.close()
  }
}

const refusal = async (url: string, init: RequestInit = {}) => {
  const response = await fetch(url, init)
  return [response.status, ((await response.json()) as { error: { code: string } }).error.code]
}

/** Handles the event message of a change like one from RabbitMQ. Returns its timestamp. */
function happen(type: EventType, body: object, on = streams): string {
  const timestamp = new Date().toISOString()
  const handlers = changeHandlers((resource, changes) => on.changeStreams.note(resource, changes))
  callHandler<unknown>(handlers, { message_id: uuidv7(), type, request_id: null, timestamp, body })
  return timestamp
}

async function addTenant(): Promise<string> {
  const tenant_id = uuidv7()
  await makeUser(db.database, { tenant_id })
  return tenant_id
}

async function addTarget(tenant_id: string | null = null): Promise<string> {
  const id = uuidv7()
  await db.database.query(
    'INSERT INTO targets (id, name, tenant_id, connection, updated_at) VALUES ($1::uuid, $1::text, $2, $3, now())',
    [id, tenant_id, { type: 'local' }],
  )
  return id
}

async function addInstance(): Promise<string> {
  const id = uuidv7()
  await db.database.query(
    `INSERT INTO instances (id, name, version, capacity, credential_hash, last_heartbeat_at)
     VALUES ($1::uuid, $1::text, $2, 2, '', now())`,
    [id, `${COMPATIBLE_VERSION}.0`],
  )
  return id
}

async function addFreeze(start: string, end: string): Promise<string> {
  const id = uuidv7()
  await db.database.query(
    `INSERT INTO freezes (id, name, start_time, end_time, updated_at)
     VALUES ($1::uuid, $1::text, now() + $2::interval, now() + $3::interval, now())`,
    [id, start, end],
  )
  return id
}

const addRequest = (tenant_id: string | null = null) =>
  addPending(db.database, { tenant_id, command: { caller: { roles: [], tenant_id } } })

const kinds = [
  ['deployments', 'deployment', 'deployment_id', async () => (await TestDeployment.create(db.database)).id],
  ['pending', 'pending', 'pending_request_id', () => addRequest()],
  ['targets', 'target', 'target_id', () => addTarget()],
  ['instances', 'instance', 'instance_id', () => addInstance()],
  ['freezes', 'freeze', 'freeze_id', () => addFreeze('1 hour', '2 hours')],
] as const

test('a stream of targets masks the sensitive values of a target', async () => {
  const client = await listen('targets')
  const id = await addTarget()
  const sealed = TEST_KEYS.seal('{"token":"planted-value","port":80}', `target:${id}:variables`)
  await db.database.query(
    `UPDATE targets SET variables_sealed = $2, sensitive_variables = '{token}' WHERE id = $1::uuid`,
    [id, sealed],
  )
  happen('target.updated', { target_id: id, tenant_id: null })
  await until(() => client.changes.length === 1, 'the change')
  expect(client.changes[0]).toMatchObject({
    resource: { variables: { token: '***', port: 80 }, sensitive_variables: ['token'] },
  })
  expect(JSON.stringify(client.messages)).not.toContain('planted-value')
})

describe.each(kinds)('a stream of %s', (resource, kind, idField, add) => {
  test('begins with a ping and sends changes with the item of the list', async () => {
    const client = await listen(resource)
    const id = await add()
    const timestamp = happen(`${kind}.created`, { [idField]: id, tenant_id: null })
    await until(() => client.changes.length === 1, 'the change')
    const looking = { db: db.database, keys: TEST_KEYS, viewer: { tenant_id: null, may_override_freezes: false } }
    const item = JSON.parse(JSON.stringify(await listItem(looking, kind, id)))
    expect(item).toMatchObject({ id })
    expect(client.messages).toEqual([
      { event: 'ping', data: { type: 'ping' } },
      { event: 'created', data: { type: 'created', resource_type: resource, id, timestamp, resource: item } },
    ])
    happen(`${kind}.updated` as EventType, { [idField]: id, tenant_id: null })
    await until(() => client.changes.length === 2, 'the change')
    expect(client.changes[1]).toMatchObject({ type: 'updated', id, resource: item })
  })

  test('needs its permission and ends when the permission is removed', async () => {
    const permission = resource === 'pending' ? 'deployments:read' : `${resource}:read`
    const others = ALL.filter((one) => one !== permission)
    expect(await refusal(await urlOf(resource, { permissions: others }))).toEqual([403, 'INSUFFICIENT_PERMISSIONS'])
    const user = await makeUser(db.database, { permissions: [permission] })
    const client = await SseClient.openAt(
      `${streams.url}/api/v1/sse/${resource}?sse_token=${await streams.token(user)}`,
    )
    await db.database.query('UPDATE roles SET permissions = $2 WHERE id = $1', [user.user_id, others])
    await until(() => client.broken, 'the end')
  })
})

test('a stream of releases sends drift to clients who see the release', async () => {
  const [mine, other] = [await addTenant(), await addTenant()]
  const deployment = uuidv7()
  const target = await addTarget()
  await db.database.query(
    `INSERT INTO releases (deployment_id, target_id, tenant_id, source_type, source_id, source_name, source_version, state, begun_at)
     VALUES ($1, $2, $3, 'action', $1, 'web', '1.0.0', 'applied', now())`,
    [deployment, target, mine],
  )
  await db.database.query('INSERT INTO release_heads VALUES ($1, $2, $2, $2)', [target, deployment])
  const { rows } = await db.database.query<{ id: string }>(
    `INSERT INTO release_checks (target_id, source_id, deployment_id, result, drifted_since)
     VALUES ($1, $2, $2, 'drifted', now()) RETURNING id`,
    [target, deployment],
  )
  const release_id = rows[0]?.id ?? ''
  const [seeing, blind] = [
    await listen('releases', { tenant_id: mine }),
    await listen('releases', { tenant_id: other }),
  ]
  // A wrong tenant in the message shows the release to nobody else.
  happen('release.drifted', { release_id, tenant_id: other })
  happen('release.drifted', { release_id, tenant_id: mine })
  await until(() => seeing.changes.length === 1, 'the change')
  expect(seeing.changes[0]).toMatchObject({
    type: 'updated',
    resource_type: 'releases',
    id: release_id,
    resource: { target_id: target, source_name: 'web', version: '1.0.0', check: { result: 'drifted' } },
  })
  expect(blind.changes.filter(({ resource }) => resource !== null)).toEqual([])
})

describe('the request for a change stream', () => {
  test('is 404 for an unknown type with any token, and uses up the token', async () => {
    const token = await streams.token({ permissions: ALL })
    const of = (type: string) => refusal(`${streams.url}/api/v1/sse/${type}?sse_token=${token}`)
    expect(await of('users')).toEqual([404, 'NOT_FOUND'])
    expect(await of('targets')).toEqual([401, 'INVALID_TOKEN'])
    expect(await refusal(`${streams.url}/api/v1/sse/toString`)).toEqual([404, 'NOT_FOUND'])
  })

  test('opens one stream for each token, needs GET, and refuses unknown parameters', async () => {
    const url = await urlOf('targets')
    const client = await SseClient.openAt(url)
    clients.push(client)
    expect(await refusal(url)).toEqual([401, 'INVALID_TOKEN'])
    expect(await refusal(`${streams.url}/api/v1/sse/targets`)).toEqual([401, 'UNAUTHORIZED'])
    expect(await refusal(await urlOf('targets'), { method: 'POST' })).toEqual([405, 'METHOD_NOT_ALLOWED'])
    expect(await refusal(`${await urlOf('targets')}&from=1`)).toEqual([400, 'VALIDATION_ERROR'])
  })

  test('is refused over the limit of open streams, until a stream ends', async () => {
    await withStreams({ maxStreams: 3, maxStreamsPerUser: 2 }, async (own) => {
      const user = await makeUser(db.database, { permissions: ALL })
      const url = async () => `${own.url}/api/v1/sse/targets?sse_token=${await own.token(user)}`
      const [first] = [await SseClient.openAt(await url()), await SseClient.openAt(await url())]
      expect(await refusal(await url())).toEqual([503, 'SERVICE_UNAVAILABLE'])
      await listen('freezes', {}, own)
      expect(await refusal(await urlOf('freezes', {}, own))).toEqual([503, 'SERVICE_UNAVAILABLE'])
      first?.close()
      await waitFor(async () => SseClient.openAt(await url()), { what: 'room' })
    })
  })

  test('is refused over the limit of its tenant, while users of other tenants open theirs', async () => {
    await withStreams({ maxStreamsPerTenant: 2 }, async (own) => {
      const [tenant_id, other] = [uuidv7(), uuidv7()]
      const url = () => urlOf('targets', { tenant_id }, own)
      const [first] = [await SseClient.openAt(await url()), await SseClient.openAt(await url())]
      expect(await refusal(await url())).toEqual([503, 'SERVICE_UNAVAILABLE'])
      for (const tenant of [other, null, null, null]) await listen('targets', { tenant_id: tenant }, own)
      first?.close()
      await waitFor(async () => SseClient.openAt(await url()), { what: 'room' })
    })
  })

  test.each(['sse/targets', 'sse/freezes', 'deployments/ID/logs'])(
    'a client that disconnects before its stream of %s begins frees its place',
    async (path) => {
      const slow: Database = Object.create(db.as('log-stream'))
      let asked = 0
      let answer = () => {}
      const held = new Promise<void>((resolve) => {
        answer = resolve
      })
      slow.query = async (text, values) => {
        asked += 1
        await held
        return db.as('log-stream').query(text, values)
      }
      await withStreams({ streamDatabase: slow, maxStreamsPerUser: 1 }, async (own) => {
        const user = await makeUser(db.database, { permissions: ALL })
        const { id } = await TestDeployment.create(db.database)
        const url = async () => `${own.url}/api/v1/${path.replace('ID', id)}?sse_token=${await own.token(user)}`
        const leaving = get(await url(), { agent: false }).on('error', () => {})
        await until(() => asked > 0, 'the request')
        leaving.destroy()
        // The server detects the disconnect before the query is answered.
        for (let n = 0; n < 5; n += 1) await fetch(own.url)
        answer()
        const client = await waitFor(async () => SseClient.openAt(await url()), { what: 'the place to be free' })
        client.close()
      })
      await until(async () => (await openStreams()) === 0, 'no stream to be counted')
    },
  )
})

describe('the changes for a stream client', () => {
  test('concern shared records and records of its own tenant', async () => {
    const [a, b] = [await addTenant(), await addTenant()]
    const ids = async (add: (tenant: string | null) => Promise<string>) => [await add(a), await add(b), await add(null)]
    const cases = [
      ['targets', 'target', 'target_id', await ids(addTarget), [0, 2]],
      ['pending', 'pending', 'pending_request_id', await ids(addRequest), [0]],
      [
        'deployments',
        'deployment',
        'deployment_id',
        await ids(async (tenantId) => (await TestDeployment.create(db.database, { tenantId })).id),
        [0],
      ],
    ] as const
    for (const [resource, kind, idField, records, ofA] of cases) {
      const [bound, all] = [await listen(resource, { tenant_id: a }), await listen(resource)]
      for (const [n, id] of records.entries()) {
        const tenant_id = [a, b, null][n]
        happen(`${kind}.updated`, { [idField]: id, tenant_id })
        // A wrong tenant in the message shows the record to nobody else.
        happen(`${kind}.updated`, { [idField]: id, tenant_id: a })
      }
      // A hidden record does not delay the changes after it.
      const [last] = records
      await until(() => all.changes.length >= 3, `all changes of ${resource}`)
      happen(`${kind}.updated`, { [idField]: last, tenant_id: a })
      await until(() => bound.changes.filter(({ id }) => id === last).length >= 2, 'the last change')
      expect(new Set(bound.changes.map(({ id }) => id))).toEqual(new Set(ofA.map((n) => records[n])))
      expect(new Set(all.changes.map(({ id }) => id))).toEqual(new Set(records))
    }
  })

  test('include deletions of records that it could see', async () => {
    const [a, b] = [await addTenant(), await addTenant()]
    const [ofA, ofB, ofAll] = [
      await listen('targets', { tenant_id: a }),
      await listen('targets', { tenant_id: b }),
      await listen('targets'),
    ]
    const gone = uuidv7()
    happen('target.updated', { target_id: gone, tenant_id: a })
    happen('target.deleted', { target_id: gone, tenant_id: a })
    const shared = uuidv7()
    happen('target.deleted', { target_id: shared, tenant_id: null })
    await until(() => ofB.changes.length > 0 && ofA.changes.length > 1 && ofAll.changes.length > 1, 'what is gone')
    expect(ofA.changes.map(({ type, id, resource }) => [type, id, resource])).toEqual([
      ['deleted', gone, null],
      ['deleted', shared, null],
    ])
    expect(ofB.changes.map(({ id }) => id)).toEqual([shared])
    expect(ofAll.changes.map(({ id }) => id)).toEqual([gone, shared])
  })

  test('include a deletion when a record moves to another tenant', async () => {
    const [a, b] = [await addTenant(), await addTenant()]
    const [ofA, ofB, ofAll] = [
      await listen('targets', { tenant_id: a }),
      await listen('targets', { tenant_id: b }),
      await listen('targets'),
    ]
    const id = await addTarget(b)
    happen('target.updated', { target_id: id, tenant_id: b, previous_tenant_id: a })
    await until(() => [ofA, ofB, ofAll].every(({ changes }) => changes.length === 1), 'the move')
    expect(ofA.changes[0]).toMatchObject({ type: 'deleted', id, resource: null })
    for (const { changes } of [ofB, ofAll])
      expect(changes[0]).toMatchObject({ type: 'updated', resource: { tenant_id: b } })
  })

  test('are read once for all clients with the same visibility, however often the record changed', async () => {
    const reads: unknown[] = []
    const counting: Database = Object.create(db.as('log-stream'))
    counting.transaction = (work) =>
      db.as('log-stream').transaction((tx) =>
        work({
          ...tx,
          query(statement, values) {
            if (sqlOf(statement).includes('database.items.find-targets')) reads.push(valuesOf(statement, values))
            return tx.query(statement, values)
          },
        }),
      )
    await withStreams({ feedDatabase: counting }, async (own) => {
      const tenant_id = await addTenant()
      const all = await Promise.all(Array.from({ length: 8 }, () => listen('targets', {}, own)))
      const bound = await Promise.all(Array.from({ length: 8 }, () => listen('targets', { tenant_id }, own)))
      const ids = [await addTarget(), await addTarget(tenant_id), await addTarget()]
      for (const id of ids)
        happen('target.created', { target_id: id, tenant_id: id === ids[1] ? tenant_id : null }, own)
      for (const id of ids)
        happen('target.updated', { target_id: id, tenant_id: id === ids[1] ? tenant_id : null }, own)
      await until(() => [...all, ...bound].every(({ changes }) => changes.length === 3), 'three changes each')
      expect(reads).toEqual([[ids], [ids]])
      for (const { changes } of all)
        expect(changes.map(({ type, id }) => [type, id])).toEqual(ids.map((id) => ['created', id]))
    })
  })
})

describe('changes without an event message', () => {
  test('the progress of a running deployment is sent', async () => {
    const deployment = await TestDeployment.create(db.database)
    const client = await listen('deployments')
    const mine = () => client.changes.filter(({ id }) => id === deployment.id)
    await deployment.commit({ steps: [[0, 0, 'completed']] })
    await until(() => mine().length === 1, 'progress')
    expect(mine()[0]).toMatchObject({ type: 'updated', resource: { progress: 0.25, completed_steps: 1 } })
    await deployment.commit({ lines: ['no step ends'] })
    await deployment.commit({ steps: [[0, 1, 'failed']] })
    await until(() => mine().length === 2, 'progress')
    expect(mine()[1]).toMatchObject({ resource: { progress: 0.5 } })
  })

  test('an instance without heartbeat and the end of a freeze are sent', async () => {
    const instance = await addInstance()
    const freeze = await addFreeze('-1 hour', '1 hour')
    const [instances, freezes] = [await listen('instances'), await listen('freezes')]
    await db.database.query(`UPDATE instances SET last_heartbeat_at = now() - interval '29 s' WHERE id = $1`, [
      instance,
    ])
    await db.database.query('UPDATE freezes SET end_time = now() WHERE id = $1', [freeze])
    const last = (client: SseClient, id: string) => client.changes.filter((change) => change.id === id).at(-1)?.resource
    await until(() => (last(instances, instance) as { status?: string })?.status === 'offline', 'the instance')
    await until(() => (last(freezes, freeze) as { active?: boolean })?.active === false, 'the freeze')
  })
})

describe('no change is lost silently', () => {
  test('change streams end when events may be lost, and are refused until events arrive again', async () => {
    await withStreams({}, async (own) => {
      const droppedBefore = await droppedFor('missed')
      const before = await listen('targets', {}, own)
      const log = await TestDeployment.create(db.database)
      const watcher = await SseClient.open(own, log.id, await own.token())
      own.changeStreams.suspend()
      await until(() => before.broken, 'the end')
      expect(await droppedFor('missed')).toBe(droppedBefore + 1)
      expect(await refusal(await urlOf('targets', {}, own))).toEqual([503, 'SERVICE_UNAVAILABLE'])
      own.changeStreams.resume()
      const after = await listen('targets', {}, own)
      const id = await addTarget()
      happen('target.created', { target_id: id, tenant_id: null }, own)
      await until(() => after.changes.length === 1, 'the change')
      expect([watcher.broken, watcher.ended]).toEqual([false, false])
      watcher.close()
    })
  })

  test('a record that cannot be read delays no other change and is sent once it can be read', async () => {
    const client = await listen('targets')
    const [bad, good] = [await addTarget(), await addTarget()]
    const seal = (text: string | null) =>
      db.database.query('UPDATE targets SET variables_sealed = $2 WHERE id = $1', [bad, text])
    await seal('under a key that is lost')
    for (const id of [bad, good]) happen('target.created', { target_id: id, tenant_id: null })
    const told = () => client.changes.map(({ id }) => id)
    await until(() => told().includes(good), 'the other change')
    expect(told()).not.toContain(bad)
    await seal(null)
    await until(() => told().includes(bad), 'the change that could not be read')
    expect(client.broken).toBe(false)
  })

  test('streams end when the database is away for the read of a change', async () => {
    let down = false
    const flaky: Database = Object.create(db.as('log-stream'))
    const away = Object.assign(new Error('down'), { code: 'ECONNREFUSED' })
    flaky.transaction = (work) => (down ? Promise.reject(away) : db.as('log-stream').transaction(work))
    await withStreams({ feedDatabase: flaky }, async (own) => {
      const client = await listen('targets', {}, own)
      down = true
      happen('target.updated', { target_id: await addTarget(), tenant_id: null }, own)
      await until(() => client.broken, 'the end')
      down = false
      const again = await listen('targets', {}, own)
      happen('target.updated', { target_id: await addTarget(), tenant_id: null }, own)
      await until(() => again.changes.length === 1, 'the change')
    })
  })

  test('a client that does not read is cut off, and other clients receive everything', async () => {
    const { logger, written } = keptLog()
    await withStreams({ logger }, async (own) => {
      const reading = await listen('targets', {}, own)
      const { socket } = await openStalled(await urlOf('targets', {}, own), '"ping"')
      const id = await addTarget()
      await db.database.query(`UPDATE targets SET description = repeat('x', 1000000) WHERE id = $1`, [id])
      // The kernel buffers some megabytes before the service detects that the client does not read.
      await until(async () => {
        const told = reading.changes.length
        happen('target.updated', { target_id: id, tenant_id: null }, own)
        await until(() => reading.changes.length > told, 'the change')
        return written().includes('is cut off')
      }, 'the slow one to be cut off')
      expect(written().match(/is cut off/g)).toHaveLength(1)
      expect(reading.broken).toBe(false)
      socket.destroy()
    })
  })

  test('a stream sends pings, and ends without an error when the service stops', async () => {
    const own = await startStreams({ database: db.database, changeClientLimits: { pingMs: 100 } })
    const client = await listen('freezes', {}, own)
    await until(() => client.messages.length >= 3, 'pings')
    await own.close()
    await until(() => client.ended, 'the end')
    expect(client.messages.every(({ event }) => event === 'ping')).toBe(true)
  })
})
