import { createHash, randomBytes } from 'node:crypto'
import http from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { type ListeningServer, listen } from '@slipway/http'
import { waitFor } from '@slipway/testing'
import { sweepContent } from '../src/content/sweep.ts'
import { addUser, clientOf, logger, refusal, refused, startGateway, type TestGateway } from './setup.ts'

const CHUNK = 256 * 1024
const GIB = 1024 ** 3

let gateway: TestGateway
let server: ListeningServer
let base: string
const tenants: Record<'a' | 'b', string> = { a: '', b: '' }

beforeAll(async () => {
  gateway = await startGateway()
  server = await listen(gateway.app, { host: '127.0.0.1', port: 0, variable: 'none' })
  base = `http://127.0.0.1:${server.port}/api/v1`
  const admin = clientOf(gateway, gateway.adminToken)
  for (const name of ['a', 'b'] as const)
    tenants[name] = (await admin.send('createTenant', '/tenants', { name })).body.id
})
afterAll(async () => {
  await server.close()
  await gateway.close()
})
beforeEach(() => gateway.database.query('DELETE FROM source_contents'))
beforeEach(() => gateway.database.query('DELETE FROM contents'))
beforeEach(() => gateway.database.query('DELETE FROM content_uploads'))

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const digestOf = (bytes: Buffer) => `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`
const bearer = (token = gateway.adminToken) => ({ authorization: `Bearer ${token}` })

async function upload(bytes: Buffer, headers: Record<string, string> = {}, token?: string) {
  const response = await fetch(`${base}/content`, {
    method: 'POST',
    headers: { ...bearer(token), ...headers },
    body: new Uint8Array(bytes),
  })
  // biome-ignore lint/suspicious/noExplicitAny: the test reads single fields of answers
  return { status: response.status, body: (await response.json()) as any }
}

const get = (id: string, headers: Record<string, string> = {}, token?: string, method = 'GET') =>
  fetch(`${base}/content/${id}`, { method, headers: { ...bearer(token), ...headers } })

const stored = async () => {
  const { rows } = await gateway.database.query(
    `SELECT (SELECT count(*)::int FROM contents) AS contents, (SELECT count(*)::int FROM content_uploads) AS uploads,
            (SELECT count(*)::int FROM content_chunks) AS chunks`,
  )
  return rows[0]
}

describe('uploaded content', () => {
  test.each([
    ['nothing', 0],
    ['a byte', 1],
    ['just a chunk', CHUNK],
    ['some chunks and a rest', 3 * CHUNK + 17],
  ])('is returned unchanged: %s', async (_, size) => {
    const bytes = randomBytes(size)
    const id = sha256(bytes)
    expect(await upload(bytes)).toEqual({ status: 201, body: { id, size } })
    const response = await get(id)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-length': String(size),
      'content-type': 'application/octet-stream',
      'content-digest': digestOf(bytes),
      etag: `"${id}"`,
      'cache-control': 'private, max-age=31536000, immutable',
    })
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true)
  })

  test('accepts any media type and is not parsed', async () => {
    const bytes = Buffer.from('{"not json')
    for (const type of ['application/json', 'text/plain; charset=latin1', 'multipart/form-data; boundary=x']) {
      expect(await upload(bytes, { 'content-type': type })).toMatchObject({ status: 201, body: { id: sha256(bytes) } })
    }
    expect(await stored()).toEqual({ contents: 1, uploads: 1, chunks: 1 })
    const { rows } = await gateway.database.query(
      `SELECT action, resource_id, details FROM audit_records WHERE resource_id = $1`,
      [sha256(bytes)],
    )
    const record = { action: 'content.create', resource_id: sha256(bytes), details: { size: bytes.length } }
    expect(rows).toEqual([record, record, record])
  })

  test('is not sent to a client that has it; HEAD returns its headers', async () => {
    const bytes = randomBytes(2 * CHUNK)
    const id = sha256(bytes)
    await upload(bytes)
    for (const tag of [`"${id}"`, `"other", W/"${id}"`, '*']) {
      const response = await get(id, { 'if-none-match': tag })
      expect({ status: response.status, body: await response.text() }).toEqual({ status: 304, body: '' })
    }
    expect((await get(id, { 'if-none-match': '"other"' })).status).toBe(200)
    const head = await get(id, {}, undefined, 'HEAD')
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, String(2 * CHUNK), ''])
  })

  test.each(['x', 'A'.repeat(64), '0'.repeat(64)])('is 404 for an unknown or malformed id: %s', async (id) => {
    const response = await get(id)
    expect(refusal({ status: response.status, body: (await response.json()) as never })).toEqual(
      refused(404, 'NOT_FOUND'),
    )
  })
})

describe('an upload is refused and leaves nothing if it', () => {
  test('has a wrong, malformed or repeated digest', async () => {
    const bytes = randomBytes(CHUNK + 1)
    const wrong = await upload(bytes, { 'content-digest': digestOf(Buffer.from('other')) })
    expect(wrong).toMatchObject({
      status: 400,
      body: { error: { code: 'VALIDATION_ERROR', details: { errors: [{ path: 'header/Content-Digest' }] } } },
    })
    for (const digest of ['sha-256=abc', 'sha-256=:abc:', `${digestOf(bytes)}, ${digestOf(bytes)}`]) {
      expect((await upload(bytes, { 'content-digest': digest })).status).toBe(400)
    }
    expect(await stored()).toEqual({ contents: 0, uploads: 0, chunks: 0 })
    const right = `sha-512=:abc:, ${digestOf(bytes)}`
    expect((await upload(bytes, { 'content-digest': right })).status).toBe(201)
  })

  test('has an encoded body', async () => {
    const { status, body } = await upload(Buffer.from('x'), { 'content-encoding': 'gzip' })
    expect([status, body.error.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
  })

  test('has a Content-Length over 1 GiB, before its body is sent', async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { ...bearer(), 'content-length': GIB + 1 }
      const request = http.request(`${base}/content`, { method: 'POST', headers }, (response) => {
        resolve(response.statusCode)
        request.destroy()
      })
      request.on('error', reject).flushHeaders()
    })
    expect(status).toBe(413)
    expect(await stored()).toEqual({ contents: 0, uploads: 0, chunks: 0 })
  })

  test('is aborted', async () => {
    const request = http.request(`${base}/content`, { method: 'POST', headers: bearer() })
    request.on('error', () => {})
    request.write(randomBytes(3 * CHUNK))
    await waitFor(async () => (await stored())?.['chunks'] > 0, { what: 'the first chunk' })
    expect((await stored())?.['contents']).toBe(0)
    request.destroy()
    await waitFor(async () => (await stored())?.['uploads'] === 0, { what: 'nothing to be left' })
    expect(await stored()).toEqual({ contents: 0, uploads: 0, chunks: 0 })
  })
})

describe('damaged content', () => {
  const damage = (number: number) =>
    gateway.database.query(
      `UPDATE content_chunks SET bytes = set_byte(bytes, 5, (get_byte(bytes, 5) + 1) % 256) WHERE number = $1`,
      [number],
    )

  test.each([0, 1, 2])('ends a download of several chunks early: damaged chunk %i', async (number) => {
    const bytes = randomBytes(2 * CHUNK + 100)
    await upload(bytes)
    await damage(number)
    const response = await get(sha256(bytes))
    await expect(response.arrayBuffer()).rejects.toThrow()
  })

  test('is an error for a download of a single chunk', async () => {
    const bytes = randomBytes(100)
    await upload(bytes)
    await damage(0)
    const response = await get(sha256(bytes))
    expect({ status: response.status, etag: response.headers.get('etag') }).toEqual({ status: 500, etag: null })
    expect(await response.json()).toMatchObject({ error: { code: 'INTERNAL_ERROR' } })
  })

  test('ends the download early if a chunk is missing', async () => {
    const bytes = randomBytes(2 * CHUNK + 100)
    await upload(bytes)
    await gateway.database.query('DELETE FROM content_chunks WHERE number = 2')
    await expect((await get(sha256(bytes))).arrayBuffer()).rejects.toThrow()
  })
})

const definition = (...files: object[]) => ({ type: 'script', script: 'true', files })
const action = (name: string, ...files: object[]) => ({ name, version: '1.0.0', definition: definition(...files) })

describe('files of an action', () => {
  test.each(['/etc/passwd', '..', '../x', 'a/../../x', 'a/..', './', 'a/', '.', 'a/.', 'a\nb', 'x'.repeat(256)])(
    'cannot have a path like %j',
    async (path) => {
      const { body } = await upload(Buffer.from('x'))
      const client = clientOf(gateway, gateway.adminToken)
      const answer = await client.send('createAction', '/actions', action('wrong', { content: body.id, path }))
      expect(refusal(answer)).toMatchObject(refused(400, 'VALIDATION_ERROR'))
      expect(answer.body.error.details.errors[0].path).toBe('/definition/files/0/path')
    },
  )

  test('need unique paths, octal modes and known content, and every problem is reported', async () => {
    const { body } = await upload(Buffer.from('x'))
    const client = clientOf(gateway, gateway.adminToken)
    const content = body.id
    const files = [
      { content, path: 'a' },
      { content, path: './b/../a' },
      { content, path: 'a/b' },
      { content, path: 'c', mode: '0999' },
      { content: 'x', path: 'd' },
    ]
    const { body: answer } = await client.send('createAction', '/actions', action('wrong', ...files))
    expect(answer.error.details.errors.map(({ path }: { path: string }) => path).sort()).toEqual([
      '/definition/files/0/path',
      '/definition/files/1/path',
      '/definition/files/3/mode',
      '/definition/files/4/content',
    ])
    const unknown = [
      { content, path: 'a' },
      { content: '0'.repeat(64), path: 'b' },
    ]
    expect(refusal(await client.send('createAction', '/actions', action('wrong', ...unknown)))).toMatchObject(
      refused(400, 'VALIDATION_ERROR', { errors: [{ path: '/definition/files/1/content' }] }),
    )
    const right = [
      { content, path: 'a', mode: '755' },
      { content, path: 'b/a', mode: '0600' },
    ]
    const { body: made } = await client.send('createAction', '/actions', action('right', ...right))
    const { body: shown } = await client.send('getActionVersion', `/actions/${made.id}/versions/1.0.0`)
    expect(shown.definition.files).toEqual(right)
    const next = { version: '2.0.0', definition: definition({ content: '0'.repeat(64), path: 'b' }) }
    const refusedVersion = await client.send('createActionVersion', `/actions/${made.id}/versions`, next)
    expect(refusal(refusedVersion)).toMatchObject(refused(400, 'VALIDATION_ERROR'))
  })
})

describe('the list of content', () => {
  const list = async (token?: string, query = '') => {
    const { body, status } = await clientOf(gateway, token ?? gateway.adminToken).send(
      'listContent',
      `/content${query}`,
    )
    expect(status).toBe(200)
    return body
  }

  test('shows what the caller may read, newest first, with the newest versions that use it', async () => {
    const person = (tenant: 'a' | 'b') => addUser(gateway, { role: 'operator', tenant_id: tenants[tenant] })
    const [owner, colleague, stranger] = [await person('a'), await person('a'), await person('b')]
    const own = (await upload(Buffer.from('own'), {}, owner.token)).body.id
    const shared = (await upload(Buffer.from('shared'))).body.id
    const used = (await upload(Buffer.from('used'), {}, owner.token)).body.id
    const ofA = clientOf(gateway, owner.token)
    const ids = async (token?: string) => (await list(token)).data.map(({ id }: { id: string }) => id)

    expect(await ids(owner.token)).toEqual([used, own])
    expect(await ids(colleague.token)).toEqual([])
    expect(await ids()).toEqual([used, shared, own])

    const made = await ofA.send('createAction', '/actions', action('listed', { content: used, path: 'x' }))
    for (const version of ['1.1.0', '1.2.0', '1.3.0']) {
      const next = { version, definition: definition({ content: used, path: 'x' }) }
      await ofA.send('createActionVersion', `/actions/${made.body.id}/versions`, next)
    }
    const admin = clientOf(gateway, gateway.adminToken)
    await admin.send('createAction', '/actions', action('listed for all', { content: shared, path: 'x' }))
    expect(await ids(colleague.token)).toEqual([used, shared])
    expect(await ids(stranger.token)).toEqual([shared])
    const { data, meta } = await list(owner.token)
    const of = (version: string) => ({ action_id: made.body.id, action_name: 'listed', version })
    expect(data).toEqual([
      {
        ...{ id: used, size: 4, uploaded_at: expect.any(String), version_count: 4 },
        used_by: [of('1.3.0'), of('1.2.0'), of('1.1.0')],
      },
      { id: own, size: 3, uploaded_at: expect.any(String), version_count: 0, used_by: [] },
      // The tenant sees that a shared action uses the content, but not when another user uploaded it.
      {
        id: shared,
        size: 6,
        uploaded_at: null,
        version_count: 1,
        used_by: [expect.objectContaining({ version: '1.0.0' })],
      },
    ])
    expect(meta).toMatchObject({ total: 3, page: 1 })
    expect((await list(owner.token, '?limit=1&page=2')).data).toMatchObject([{ id: own }])
  })

  test('does not reveal that another tenant uploads or uses the same content', async () => {
    const person = (tenant: 'a' | 'b') => addUser(gateway, { role: 'operator', tenant_id: tenants[tenant] })
    const [ours, theirs] = [await person('a'), await person('b')]
    const { id } = (await upload(Buffer.from('equal'), {}, ours.token)).body
    const before = await list(ours.token)
    await upload(Buffer.from('equal'), {}, theirs.token)
    await clientOf(gateway, theirs.token).send('createAction', '/actions', action('theirs', { content: id, path: 'x' }))
    expect(await list(ours.token)).toEqual(before)
    expect((await list()).data).toMatchObject([{ id, version_count: 1 }])
  })
})

describe('content of another user', () => {
  test('is readable for its uploader and for users who see a source with it, not by its hash', async () => {
    const person = (tenant: 'a' | 'b') => addUser(gateway, { role: 'operator', tenant_id: tenants[tenant] })
    const [owner, colleague, stranger] = [await person('a'), await person('a'), await person('b')]
    const bytes = randomBytes(CHUNK + 5)
    const id = sha256(bytes)
    expect((await upload(bytes, {}, owner.token)).status).toBe(201)
    const seenBy = async ({ token }: { token: string }) => {
      const response = await get(id, {}, token)
      const body = Buffer.from(await response.arrayBuffer())
      return response.status === 200 ? body.equals(bytes) : response.status
    }
    const publish = async ({ token }: { token: string }, name: string) => {
      const client = clientOf(gateway, token)
      return refusal(await client.send('createAction', '/actions', action(name, { content: id, path: 'x' })))
    }
    expect([await seenBy(owner), await seenBy(colleague), await seenBy(stranger)]).toEqual([true, 404, 404])
    expect(await seenBy({ token: gateway.adminToken })).toBe(true)
    const unknown = refused(400, 'VALIDATION_ERROR', { errors: [{ path: '/definition/files/0/content' }] })
    expect(await publish(stranger, 'stolen')).toMatchObject(unknown)
    expect(await publish(colleague, 'stolen')).toMatchObject(unknown)

    expect((await publish(owner, 'own')).status).toBe(201)
    expect([await seenBy(colleague), await seenBy(stranger)]).toEqual([true, 404])
    expect((await publish(colleague, 'too')).status).toBe(201)

    // A user who has the bytes can upload them and needs no other upload.
    expect((await upload(bytes, {}, stranger.token)).status).toBe(201)
    expect(await seenBy(stranger)).toBe(true)
    expect(await stored()).toEqual({ contents: 1, uploads: 1, chunks: 2 })
  })

  test('is readable for everybody if a shared action uses it', async () => {
    const bytes = randomBytes(10)
    await upload(bytes)
    const stranger = await addUser(gateway, { role: 'user', tenant_id: tenants.b })
    expect((await get(sha256(bytes), {}, stranger.token)).status).toBe(404)
    const client = clientOf(gateway, gateway.adminToken)
    await client.send('createAction', '/actions', action('for all', { content: sha256(bytes), path: 'x' }))
    expect((await get(sha256(bytes), {}, stranger.token)).status).toBe(200)
  })
})

test('content and uploads that cannot be deleted do not stop the deletion of others', async () => {
  const [bad, good] = ['bad', 'good'].map((text) => Buffer.from(`poison ${text}`)) as [Buffer, Buffer]
  for (const bytes of [bad, good]) await upload(bytes)
  const { database } = gateway
  await database.query(`UPDATE contents SET uploaded_at = now() - interval '31 days' WHERE id = ANY($1)`, [
    [sha256(bad), sha256(good)],
  ])
  const uploads = ['00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-00000000000b']
  await database.query(
    `INSERT INTO content_uploads (id, touched_at) SELECT unnest($1::uuid[]), now() - interval '2 hours'`,
    [uploads],
  )
  await database.query(
    `CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'poisoned'; END $$`,
  )
  for (const [table, id] of [
    ['contents', sha256(bad)],
    ['content_uploads', uploads[0]],
  ]) {
    await database.query(
      `CREATE TRIGGER poison BEFORE DELETE ON ${table} FOR EACH ROW WHEN (OLD.id = '${id}') EXECUTE FUNCTION poison()`,
    )
  }
  const left = async () => {
    const { rows } = await database.query<{ id: string }>(
      `SELECT id FROM contents WHERE id = ANY($1) UNION ALL SELECT id::text FROM content_uploads WHERE id = ANY($2::uuid[])`,
      [[sha256(bad), sha256(good)], uploads],
    )
    return rows.map(({ id }) => id)
  }
  await sweepContent(database, 30, { ...logger, error: () => {} })
  expect(await left()).toEqual([sha256(bad), uploads[0]])
  await database.query('DROP FUNCTION poison() CASCADE')
  await sweepContent(database, 30, logger)
  expect(await left()).toEqual([])
})

test('the sweep deletes expired unused content and the remains of aborted uploads, and nothing else', async () => {
  const [used, unused, young] = ['used', 'unused', 'young'].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer]
  for (const bytes of [used, unused, young]) await upload(bytes)
  const client = clientOf(gateway, gateway.adminToken)
  await client.send('createAction', '/actions', action('user', { content: sha256(used), path: 'x' }))
  const { database, asGateway } = gateway
  const old = [sha256(used), sha256(unused)]
  await database.query(`UPDATE contents SET uploaded_at = now() - interval '31 days' WHERE id = ANY($1)`, [old])
  await database.query(
    `INSERT INTO content_uploads (id, touched_at) VALUES (gen_random_uuid(), now() - interval '1 hour')`,
  )
  await database.query(`INSERT INTO content_uploads (id) VALUES (gen_random_uuid())`)
  const left = async () => {
    const { rows } = await database.query<{ id: string }>('SELECT id FROM contents ORDER BY id')
    return rows.map(({ id }) => id)
  }
  await sweepContent(asGateway, 0, logger)
  expect((await left()).length).toBe(3)
  expect((await stored())?.['uploads']).toBe(4)
  await sweepContent(asGateway, 30, logger)
  expect(await left()).toEqual([sha256(used), sha256(young)].sort())
  await database.query(`UPDATE content_uploads SET touched_at = now() - interval '1 hour'`)
  await sweepContent(asGateway, 30, logger)
  expect(await stored()).toEqual({ contents: 2, uploads: 2, chunks: 2 })
  // A new upload restarts the time until the deletion.
  await database.query(`UPDATE contents SET uploaded_at = now() - interval '31 days'`)
  await upload(young)
  await sweepContent(asGateway, 30, logger)
  expect((await left()).length).toBe(2)
})

test('a check of an upload waits for no upload of the same content', async () => {
  const bytes = Buffer.from('checked')
  const [{ token }, other] = await Promise.all([
    addUser(gateway, { role: 'operator', tenant_id: tenants.a }),
    addUser(gateway, { role: 'operator', tenant_id: tenants.b }),
  ])
  const { body } = await upload(bytes, {}, token)
  const changes = [{ what: 'upload', id: body.id, size: bytes.length }]
  const check = async (by: string) =>
    (await clientOf(gateway, by).send('checkCatalog', '/catalog/check', { changes })).body.results
  await gateway.database.transaction(async (tx) => {
    await tx.query('UPDATE contents SET uploaded_at = now() WHERE id = $1', [body.id])
    expect(await check(other.token)).toEqual([{ error: null, warnings: [] }])
    await tx.query('SELECT FROM contents FOR UPDATE')
    expect(await check(token)).toEqual([{ error: null, warnings: [] }])
  })
})
