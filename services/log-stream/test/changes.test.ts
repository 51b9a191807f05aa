import { get } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { callHandler } from '@slipway/broker'
import type { EventType, StreamResource } from '@slipway/contracts'
import type { Database } from '@slipway/database'
import { COMPATIBLE_VERSION, uuidv7 } from '@slipway/runtime'
import { type OpenTestDatabase, openTestDatabase, sqlOf, valuesOf, waitFor } from '@slipway/testing'
import { listItem } from '@slipway/views'
import { changeHandlers } from '../src/changes/change.ts'
import { TestDeployment } from './deployment.ts'
import { keptLog } from './logger.ts'
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

/** What the message of a change says, as it comes from the broker. */
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

async function addPending(tenant_id: string | null = null): Promise<string> {
  const id = uuidv7()
  const command = { caller: { roles: [], tenant_id } }
  await db.database.query('INSERT INTO pending_requests (id, priority, tenant_id, command) VALUES ($1, 0, $2, $3)', [
    id,
    tenant_id,
    command,
  ])
  return id
}

const kinds = [
  ['deployments', 'deployment', 'deployment_id', async () => (await TestDeployment.create(db.database)).id],
  ['pending', 'pending', 'pending_request_id', () => addPending()],
  ['targets', 'target', 'target_id', () => addTarget()],
  ['instances', 'instance', 'instance_id', () => addInstance()],
  ['freezes', 'freeze', 'freeze_id', () => addFreeze('1 hour', '2 hours')],
] as const

test('a stream of targets shows no value that a target marks as sensitive', async () => {
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
  test('begins with a ping and tells what changes, as the list shows it', async () => {
    const client = await listen(resource)
    const id = await add()
    const timestamp = happen(`${kind}.created`, { [idField]: id, tenant_id: null })
    await until(() => client.changes.length === 1, 'the change')
    const looking = { db: db.database, keys: TEST_KEYS }
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

  test('needs its permission, which ends it when it goes', async () => {
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

test('a stream of releases tells of drift to those who see the release', async () => {
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
  // A message that errs about whose it is tells nobody more.
  happen('release.drifted', { release_id, tenant_id: other })
  happen('release.drifted', { release_id, tenant_id: mine })
  await until(() => seeing.changes.length === 1, 'the change')
  expect(seeing.changes[0]).toMatchObject({
    ...{ type: 'updated', resource_type: 'releases', id: release_id },
    resource: { target_id: target, source_name: 'web', version: '1.0.0', check: { result: 'drifted' } },
  })
  expect(blind.changes.filter(({ resource }) => resource !== null)).toEqual([])
})

describe('what can be asked for', () => {
  test('another type is 404, whatever the token, and takes it', async () => {
    const token = await streams.token({ permissions: ALL })
    const of = (type: string) => refusal(`${streams.url}/api/v1/sse/${type}?sse_token=${token}`)
    expect(await of('users')).toEqual([404, 'NOT_FOUND'])
    expect(await of('targets')).toEqual([401, 'INVALID_TOKEN'])
    expect(await refusal(`${streams.url}/api/v1/sse/toString`)).toEqual([404, 'NOT_FOUND'])
  })

  test('a token opens one stream, another method none, and unknown parameters are named', async () => {
    const url = await urlOf('targets')
    const client = await SseClient.openAt(url)
    clients.push(client)
    expect(await refusal(url)).toEqual([401, 'INVALID_TOKEN'])
    expect(await refusal(`${streams.url}/api/v1/sse/targets`)).toEqual([401, 'UNAUTHORIZED'])
    expect(await refusal(await urlOf('targets'), { method: 'POST' })).toEqual([405, 'METHOD_NOT_ALLOWED'])
    expect(await refusal(`${await urlOf('targets')}&from=1`)).toEqual([400, 'VALIDATION_ERROR'])
  })

  test('no more streams than may be open, and one that ends makes room', async () => {
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

  test.each(['sse/targets', 'sse/freezes', 'deployments/ID/logs'])(
    'a client that leaves before its stream of %s begins keeps no place and is not counted',
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
        // Answered after the server has seen who left.
        for (let n = 0; n < 5; n += 1) await fetch(own.url)
        answer()
        const client = await waitFor(async () => SseClient.openAt(await url()), { what: 'the place to be free' })
        client.close()
      })
      await until(async () => (await openStreams()) === 0, 'no stream to be counted')
    },
  )
})

describe('what a viewer is told', () => {
  test('of targets: their own and shared ones; of deployments and requests: their own', async () => {
    const [a, b] = [await addTenant(), await addTenant()]
    const ids = async (add: (tenant: string | null) => Promise<string>) => [await add(a), await add(b), await add(null)]
    const cases = [
      ['targets', 'target', 'target_id', await ids(addTarget), [0, 2]],
      ['pending', 'pending', 'pending_request_id', await ids(addPending), [0]],
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
        // A message that errs about whose it is tells nobody more.
        happen(`${kind}.updated`, { [idField]: id, tenant_id: a })
      }
      // What cannot be seen is not waited for: what comes after it is.
      const [last] = records
      await until(() => all.changes.length >= 3, `all changes of ${resource}`)
      happen(`${kind}.updated`, { [idField]: last, tenant_id: a })
      await until(() => bound.changes.filter(({ id }) => id === last).length >= 2, 'the last change')
      expect(new Set(bound.changes.map(({ id }) => id))).toEqual(new Set(ofA.map((n) => records[n])))
      expect(new Set(all.changes.map(({ id }) => id))).toEqual(new Set(records))
    }
  })

  test('one that is gone is told to those who saw it', async () => {
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

  test('one that goes to another tenant is gone for the one that it left', async () => {
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

  test('is read once for all who see the same, however many listen and however often it changed', async () => {
    const reads: unknown[] = []
    const counting: Database = Object.create(db.as('log-stream'))
    counting.transaction = (work) =>
      db.as('log-stream').transaction((tx) =>
        work({
          query(statement, values) {
            if (sqlOf(statement).includes('views.items.find-targets')) reads.push(valuesOf(statement, values))
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

describe('without an event', () => {
  test('the progress of a running deployment is told', async () => {
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

  test('an instance without heartbeat and a freeze that ends are told', async () => {
    const instance = await addInstance()
    const freeze = await addFreeze('-1 hour', '2 seconds')
    const [instances, freezes] = [await listen('instances'), await listen('freezes')]
    await db.database.query(`UPDATE instances SET last_heartbeat_at = now() - interval '29 s' WHERE id = $1`, [
      instance,
    ])
    const last = (client: SseClient, id: string) => client.changes.filter((change) => change.id === id).at(-1)?.resource
    await until(() => (last(instances, instance) as { status?: string })?.status === 'offline', 'the instance')
    await until(() => (last(freezes, freeze) as { active?: boolean })?.active === false, 'the freeze')
  })
})

describe('nothing is kept from anybody silently', () => {
  test('streams are ended when events may be lost, and refused until they are not', async () => {
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

  test('a record that cannot be read ends no stream, keeps no other back, and is told when it can be read', async () => {
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

  test('streams are ended when what changed cannot be read', async () => {
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

  test('a client that reads nothing is cut off, and others have everything', async () => {
    const { logger, written } = keptLog()
    await withStreams({ logger }, async (own) => {
      const reading = await listen('targets', {}, own)
      const { socket } = await openStalled(await urlOf('targets', {}, own), '"ping"')
      const id = await addTarget()
      await db.database.query(`UPDATE targets SET description = repeat('x', 100000) WHERE id = $1`, [id])
      // Kernels take some megabytes before the client is noticed to take nothing.
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

  test('a stream is let go in order when the service stops, and pings until then', async () => {
    const own = await startStreams({ database: db.database, changeClientLimits: { pingMs: 100 } })
    const client = await listen('freezes', {}, own)
    await until(() => client.messages.length >= 3, 'pings')
    await own.close()
    await until(() => client.ended, 'the end')
    expect(client.messages.every(({ event }) => event === 'ping')).toBe(true)
  })
})
