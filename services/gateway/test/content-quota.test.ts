import { createHash, randomBytes } from 'node:crypto'
import http from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createDatabase, type Database } from '@slipway/database'
import { type ListeningServer, listen } from '@slipway/http'
import { waitFor } from '@slipway/testing'
import { sumUsage, sumUsageOfTenant } from '../src/content/quota.sql.ts'
import { sweepContent } from '../src/content/sweep.ts'
import type { ContentLimits } from '../src/dependencies.ts'
import { createGateway } from '../src/gateway.ts'
import { addUser, clientOf, logger, refusal, startGateway, type TestGateway } from './setup.ts'

const KIB = 1024
const MIB = 1024 * KIB
const GIB = 1024 * MIB

let gateway: TestGateway
let otherPool: Database
/** Two gateways on one database, because a quota must hold across replicas. */
const servers: ListeningServer[] = []
const limits: ContentLimits = { tenantBytes: 0, totalBytes: 0 }
/** By the names of users. Tests add users of their own. */
const tokens: Record<string, string> = {}
const tenants = { a: '', b: '' }

beforeAll(async () => {
  gateway = await startGateway({ contentLimits: limits })
  const { dependencies } = gateway
  otherPool = createDatabase({
    url: dependencies.database.pool.options.connectionString ?? '',
    applicationName: 'second gateway',
  })
  for (const { app } of [gateway, createGateway({ ...dependencies, database: otherPool })]) {
    servers.push(await listen(app, { host: '127.0.0.1', port: 0, variable: 'none' }))
  }
  const admin = clientOf(gateway, gateway.adminToken)
  for (const name of ['a', 'b'] as const) {
    tenants[name] = (await admin.send('createTenant', '/tenants', { name })).body.id
    tokens[name] = (await addUser(gateway, { role: 'operator', tenant_id: tenants[name] })).token
  }
  tokens['colleague'] = (await addUser(gateway, { role: 'operator', tenant_id: tenants.a })).token
  tokens['admin'] = gateway.adminToken
})
afterAll(async () => {
  for (const server of servers) await server.close()
  await otherPool.close()
  await gateway.close()
})
beforeEach(async () => {
  Object.assign(limits, { tenantBytes: 0, totalBytes: 0 })
  await gateway.database.query('DELETE FROM source_contents')
  await gateway.database.query('DELETE FROM contents')
  await gateway.database.query('DELETE FROM content_uploads')
})

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const path = (server = 0) => `http://127.0.0.1:${servers[server]?.port}/api/v1/content`

interface Sending {
  as?: string
  /** Sends no Content-Length. */
  chunked?: boolean
  server?: number
  headers?: Record<string, string>
}

async function upload(bytes: Buffer, { as = 'a', chunked = false, server = 0, headers = {} }: Sending = {}) {
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += 64 * KIB) yield new Uint8Array(bytes.subarray(at, at + 64 * KIB))
  }
  const options = {
    method: 'POST',
    headers: { authorization: `Bearer ${tokens[as]}`, ...headers },
    body: chunked ? ReadableStream.from(pieces()) : new Uint8Array(bytes),
    duplex: 'half',
  }
  const response = await fetch(path(server), options as RequestInit)
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into field by field
  const body = (await response.json()) as any
  return response.status === 201
    ? 201
    : { status: response.status, code: body.error.code, limit: body.error.details?.limit_bytes }
}

const refusedBy = (limit: number) => ({ status: 413, code: 'PAYLOAD_TOO_LARGE', limit })

/** Sends the header with this length and no body. Returns the status. */
const announce = (length: number, as = 'a') =>
  new Promise<number | undefined>((resolve, reject) => {
    const headers = { authorization: `Bearer ${tokens[as]}`, 'content-length': length }
    const request = http.request(path(), { method: 'POST', headers }, (response) => {
      resolve(response.statusCode)
      request.destroy()
    })
    request.on('error', reject).flushHeaders()
  })

/** Begins an upload, sends some bytes and waits. */
function begin(bytes: number, { as = 'a', length }: { as?: string; length?: number } = {}) {
  const headers = {
    authorization: `Bearer ${tokens[as]}`,
    ...(length === undefined ? {} : { 'content-length': length }),
  }
  const request = http.request(path(), { method: 'POST', headers })
  request.on('error', () => {})
  request.write(randomBytes(bytes))
  return { breakOff: () => request.destroy() }
}

/** The bytes that count for a tenant, for users without tenant, or in total. */
const usage = async (scope: string) => {
  const sum =
    scope === 'total'
      ? sumUsage.one(gateway.database)
      : sumUsageOfTenant.one(gateway.database, { tenant_id: scope === 'no-tenant' ? null : scope })
  return (await sum).bytes
}

afterEach(async () => {
  // A gateway detects an aborted upload with a delay.
  const running = 'SELECT FROM content_uploads u WHERE NOT EXISTS (SELECT FROM contents c WHERE c.upload_id = u.id)'
  await waitFor(async () => (await gateway.database.query(running)).rowCount === 0, { what: 'uploads to end' })
})

describe('an upload beyond the limit of a tenant', () => {
  test('is refused before its body if Content-Length exceeds the limit', async () => {
    limits.tenantBytes = MIB
    expect(await announce(MIB + 1)).toBe(413)
    expect(await upload(randomBytes(MIB + 1))).toEqual(refusedBy(MIB))
    expect(await upload(randomBytes(MIB))).toBe(201)
    expect(await announce(1)).toBe(413)
    expect(await upload(Buffer.alloc(0))).toBe(201)
  })

  test('is refused during its body without Content-Length, and nothing is stored', async () => {
    limits.tenantBytes = MIB
    expect(await upload(randomBytes(MIB + 1), { chunked: true })).toEqual(refusedBy(MIB))
    const { rows } = await gateway.database.query('SELECT count(*)::int AS chunks FROM content_chunks')
    expect(rows).toEqual([{ chunks: 0 }])
    expect(await usage(tenants.a)).toBe(0)
    expect(await upload(randomBytes(MIB), { chunked: true })).toBe(201)
    expect(await upload(randomBytes(1), { chunked: true })).toEqual(refusedBy(MIB))
  })

  test('is refused after the limit was lowered', async () => {
    await upload(randomBytes(MIB))
    limits.tenantBytes = MIB / 2
    expect(await upload(randomBytes(1))).toEqual(refusedBy(MIB / 2))
  })

  test('does not affect other tenants; users without a tenant count as one more tenant', async () => {
    limits.tenantBytes = MIB
    tokens['second admin'] = (await addUser(gateway, { role: 'admin' })).token
    for (const as of ['a', 'b', 'admin']) expect(await upload(randomBytes(MIB), { as })).toBe(201)
    for (const as of ['a', 'colleague', 'b', 'admin', 'second admin']) {
      expect(await upload(randomBytes(1), { as })).toEqual(refusedBy(MIB))
    }
  })

  test('is refused with the limit of one body if that is exceeded', async () => {
    limits.tenantBytes = 10 * GIB
    expect(await announce(GIB + 1)).toBe(413)
  })
})

test('the total limit applies to all tenants together', async () => {
  Object.assign(limits, { tenantBytes: MIB, totalBytes: 2 * MIB })
  for (const as of ['a', 'b']) expect(await upload(randomBytes(MIB), { as })).toBe(201)
  expect(await upload(randomBytes(1), { as: 'admin' })).toEqual(refusedBy(2 * MIB))
  expect(await upload(randomBytes(1), { as: 'admin', chunked: true })).toEqual(refusedBy(2 * MIB))
})

describe('uploads that run in parallel', () => {
  test.each([
    ['with Content-Length', false],
    ['without Content-Length', true],
  ])('never exceed a limit together, across replicas: %s', async (_, chunked) => {
    limits.tenantBytes = 4 * MIB
    const results = await Promise.all(
      Array.from({ length: 12 }, (_each, index) =>
        upload(randomBytes(700 * KIB), { as: index % 2 ? 'a' : 'colleague', server: index % 2, chunked }),
      ),
    )
    const accepted = results.filter((result) => result === 201)
    expect(accepted.length).toBeGreaterThanOrEqual(1)
    expect(accepted.length).toBeLessThanOrEqual(5)
    expect(results.filter((result) => result !== 201)).toEqual(
      Array.from({ length: 12 - accepted.length }, () => refusedBy(4 * MIB)),
    )
    // A gateway reserves the whole Content-Length, so exactly as many uploads succeed as fit.
    if (!chunked) expect(accepted.length).toBe(5)
    expect(await usage(tenants.a)).toBe(accepted.length * 700 * KIB)
  })

  test('count once for the same bytes', async () => {
    limits.tenantBytes = 4 * MIB
    const bytes = randomBytes(MIB)
    const results = await Promise.all([0, 1, 0].map((server) => upload(bytes, { server })))
    expect(results).toEqual([201, 201, 201])
    expect([await usage(tenants.a), await usage('total')]).toEqual([MIB, MIB])
  })

  test('reserve their Content-Length and release the reservation if they are aborted', async () => {
    limits.tenantBytes = MIB
    const held = begin(10, { length: MIB - 10 })
    await waitFor(async () => (await usage(tenants.a)) === MIB - 10, { what: 'the reservation' })
    expect(await upload(randomBytes(11))).toEqual(refusedBy(MIB))
    expect(await upload(randomBytes(10))).toBe(201)
    held.breakOff()
    await waitFor(async () => (await usage(tenants.a)) === 10, { what: 'the reservation to be given back' })
    expect(await upload(randomBytes(MIB - 10))).toBe(201)
  })

  test('release what they reserved without Content-Length if they are aborted', async () => {
    limits.tenantBytes = 5 * MIB
    const held = begin(300 * KIB)
    await waitFor(async () => Number(await usage(tenants.a)) >= 256 * KIB, { what: 'the reservation' })
    held.breakOff()
    await waitFor(async () => (await usage(tenants.a)) === 0, { what: 'the reservation to be given back' })
    expect(await usage('total')).toBe(0)
    expect(await upload(randomBytes(5 * MIB))).toBe(201)
  })

  test('release their reservation after their gateway was killed, when the sweep finds them', async () => {
    limits.tenantBytes = MIB
    await gateway.database.query('INSERT INTO content_uploads (id, tenant_id) VALUES (gen_random_uuid(), $1)', [
      tenants.a,
    ])
    await gateway.database.query(`UPDATE content_uploads SET reserved_bytes = $1`, [MIB])
    expect(await upload(randomBytes(1))).toEqual(refusedBy(MIB))
    await gateway.database.query(`UPDATE content_uploads SET touched_at = now() - interval '1 hour'`)
    await sweepContent(gateway.database, 30, logger)
    expect(await upload(randomBytes(1))).toBe(201)
  })
})

test('an upload that is refused for its digest releases its reservation', async () => {
  limits.tenantBytes = MIB
  const wrong = `sha-256=:${createHash('sha256').update('other').digest('base64')}:`
  expect(await upload(randomBytes(MIB), { headers: { 'content-digest': wrong } })).toMatchObject({ status: 400 })
  expect(await upload(randomBytes(MIB))).toBe(201)
})

describe('known content', () => {
  const known = randomBytes(MIB)

  test('costs its tenant nothing, even when the quota is used up', async () => {
    limits.tenantBytes = MIB
    expect(await upload(known)).toBe(201)
    for (const chunked of [false, true]) {
      for (const as of ['a', 'colleague']) expect(await upload(known, { as, chunked })).toBe(201)
      // Other bytes of the same length and a prefix of the known bytes are new content.
      expect(await upload(randomBytes(MIB), { chunked })).toEqual(refusedBy(MIB))
      expect(await upload(known.subarray(0, MIB - 1), { chunked })).toEqual(refusedBy(MIB))
      expect(await upload(Buffer.concat([known, known]), { chunked })).toEqual(refusedBy(MIB))
    }
    expect([await usage(tenants.a), await usage('total')]).toEqual([MIB, MIB])
    const response = await fetch(`${path()}/${sha256(known)}`, {
      headers: { authorization: `Bearer ${tokens['colleague']}` },
    })
    expect(Buffer.from(await response.arrayBuffer()).equals(known)).toBe(true)
  })

  test('counts for each tenant and once in total, and does not reveal that another tenant has it', async () => {
    Object.assign(limits, { tenantBytes: MIB, totalBytes: 2 * MIB })
    await upload(known)
    await upload(randomBytes(10), { as: 'b' })
    // For tenant b, the content of tenant a is new.
    expect(await upload(known, { as: 'b' })).toEqual(refusedBy(MIB))
    expect(await upload(randomBytes(MIB), { as: 'b' })).toEqual(refusedBy(MIB))
    limits.tenantBytes = 2 * MIB
    limits.totalBytes = MIB + 10
    expect(await upload(known, { as: 'b' })).toEqual(refusedBy(MIB + 10))
    expect(await upload(randomBytes(MIB), { as: 'b' })).toEqual(refusedBy(MIB + 10))
    limits.totalBytes = 3 * MIB
    expect(await upload(known, { as: 'b' })).toBe(201)
    expect([await usage(tenants.a), await usage(tenants.b), await usage('total')]).toEqual([MIB, MIB + 10, MIB + 10])
  })
})

describe('deleted content', () => {
  const outdate = () =>
    gateway.database.query(
      `WITH c AS (UPDATE contents SET uploaded_at = now() - interval '31 days'),
       u AS (UPDATE content_uploads SET touched_at = now() - interval '31 days')
       UPDATE content_tenants SET uploaded_at = now() - interval '31 days'`,
    )
  const publish = (name: string, bytes: Buffer, as: string) =>
    clientOf(gateway, tokens[as] ?? '').send('createAction', '/actions', {
      name,
      version: '1.0.0',
      definition: { type: 'script', script: 'true', files: [{ content: sha256(bytes), path: 'x' }] },
    })

  test('no longer counts', async () => {
    limits.tenantBytes = MIB
    await upload(randomBytes(MIB))
    await outdate()
    await sweepContent(gateway.database, 30, logger)
    expect([await usage(tenants.a), await usage('total')]).toEqual([0, 0])
    expect(await upload(randomBytes(MIB))).toBe(201)
  })

  test('is gone for a tenant that no longer uses it, also while another tenant does', async () => {
    const bytes = randomBytes(100)
    for (const as of ['a', 'b', 'admin']) await upload(bytes, { as })
    expect((await publish('of b', bytes, 'b')).status).toBe(201)
    await outdate()
    await sweepContent(gateway.database, 30, logger)
    expect([await usage(tenants.a), await usage(tenants.b), await usage('total')]).toEqual([0, 100, 100])
    // An administrator without a tenant may have uploaded it for any tenant.
    expect(await usage('no-tenant')).toBe(100)
    // A tenant cannot use the content without a new upload, because it would not count for its quota.
    expect((await publish('of a', bytes, 'a')).status).toBe(400)
    await upload(bytes)
    expect((await publish('of a', bytes, 'a')).status).toBe(201)
    expect(await usage(tenants.a)).toBe(100)
  })

  test('is deleted with its tenant and no longer counts for it', async () => {
    const admin = clientOf(gateway, gateway.adminToken)
    const { id } = (await admin.send('createTenant', '/tenants', { name: 'short-lived' })).body
    const user = await addUser(gateway, { role: 'operator', tenant_id: id })
    tokens['short-lived'] = user.token
    await upload(randomBytes(100), { as: 'short-lived' })
    expect(await usage(id)).toBe(100)
    await gateway.database.query('DELETE FROM users WHERE id = $1', [user.id])
    expect(refusal(await admin.send('deleteTenant', `/tenants/${id}`))).toEqual({ status: 204 })
    expect([await usage(id), await usage('total')]).toEqual([0, 100])
  })
})
