import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { compile, RunSpec } from '@slipway/contracts'
import type { Database } from '@slipway/database'
import { uuidv7 } from '@slipway/runtime'
import { type OpenTestDatabase, openTestDatabase } from '@slipway/testing'
import {
  endLease,
  type Joined,
  joinInstance,
  postSync,
  type SeededRun,
  seedRun,
  startBridge,
  type TestBridge,
} from './setup.ts'

const CHUNK = 1024 * 1024

let db: OpenTestDatabase
let database: Database
let bridge: TestBridge
let instance: Joined
let run: SeededRun

beforeAll(async () => {
  db = await openTestDatabase()
  database = db.database
  bridge = await startBridge(database)
})
afterAll(async () => {
  await bridge?.close()
  await db?.drop()
})
beforeEach(async () => {
  instance = await joinInstance(bridge)
  run = await seedRun(database, { instanceId: instance.id })
})

/** Stores content as the gateway does. */
async function store(bytes: Buffer): Promise<string> {
  const id = createHash('sha256').update(bytes).digest('hex')
  const upload = uuidv7()
  await database.query('INSERT INTO content_uploads (id) VALUES ($1)', [upload])
  for (let number = 0; number * CHUNK < bytes.length; number += 1) {
    const chunk = bytes.subarray(number * CHUNK, (number + 1) * CHUNK)
    await database.query('INSERT INTO content_chunks (upload_id, number, bytes) VALUES ($1, $2, $3)', [
      upload,
      number,
      chunk,
    ])
  }
  await database.query('INSERT INTO contents (id, size, upload_id) VALUES ($1, $2, $3)', [id, bytes.length, upload])
  return id
}

/** Makes the action of the run use the content. */
async function use(id: string, { deploymentId } = run, file: object = { path: './bin/app' }): Promise<void> {
  await database.query(
    `INSERT INTO source_contents (source_id, version, content_id)
     SELECT source_id, source_version, $2 FROM deployments WHERE id = $1`,
    [deploymentId, id],
  )
  await database.query(
    `UPDATE source_versions v SET definition = definition || jsonb_build_object('files', jsonb_build_array($2::jsonb))
     FROM deployments d WHERE d.id = $1 AND v.source_id = d.source_id`,
    [deploymentId, JSON.stringify({ content: id, ...file })],
  )
}

const get = (id: string, credential = instance.credential) =>
  fetch(`${bridge.url}/v1/content/${id}`, { headers: { authorization: `Bearer ${credential}` } })

test.each([0, 1, 2 * CHUNK, 2 * CHUNK + 9])('content of %i bytes is sent completely', async (size) => {
  const bytes = randomBytes(size)
  const id = await store(bytes)
  await use(id)
  const response = await get(id)
  expect([response.status, response.headers.get('content-length')]).toEqual([200, String(size)])
  expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true)
  await database.query('DELETE FROM source_contents WHERE content_id = $1', [id])
  await database.query('DELETE FROM contents WHERE id = $1', [id])
})

test('content is sent only to an instance that has a live run which uses it', async () => {
  const id = await store(randomBytes(10))
  const status = async (which: string, credential?: string) => (await get(which, credential)).status
  expect(await status(id)).toBe(404)
  await use(id)
  expect(await status(id)).toBe(200)
  const other = await joinInstance(bridge)
  await seedRun(database, { instanceId: other.id })
  expect(await status(id, other.credential)).toBe(404)
  expect(await status(id, 'nonsense')).toBe(401)
  expect(await status(id, `${instance.id}.${'x'.repeat(43)}`)).toBe(401)
  for (const wrong of ['0'.repeat(64), id.toUpperCase(), 'x']) expect(await status(wrong)).toBe(404)
  await endLease(database, run.epoch)
  expect(await status(id)).toBe(404)
})

test('damaged content is never sent completely', async () => {
  for (const [size, damaged] of [
    [10, 0],
    [2 * CHUNK, 0],
    [2 * CHUNK, 1],
  ] as const) {
    const id = await store(randomBytes(size))
    await use(id)
    await database.query(
      `UPDATE content_chunks SET bytes = set_byte(bytes, 3, (get_byte(bytes, 3) + 1) % 256)
       WHERE number = $2 AND upload_id = (SELECT upload_id FROM contents WHERE id = $1)`,
      [id, damaged],
    )
    const response = await get(id)
    const whole = response.arrayBuffer().then(
      (bytes) => response.status === 200 && bytes.byteLength === size,
      () => false,
    )
    expect(await whole).toBe(false)
    expect(response.status).toBe(size === 10 ? 500 : 200)
  }
})

test('a specification has the files with normalized paths and modes, and the option bypass_cache', async () => {
  const id = await store(randomBytes(11))
  await use(id)
  const specs = async () => (await postSync(bridge, instance)).body.start.map(({ spec }: { spec: RunSpec }) => spec)
  const [body] = await specs()
  expect(compile(RunSpec)(body)).toEqual([])
  expect(body.options.bypass_cache).toBe(false)
  expect(body.actions[0].files).toEqual([{ content: id, path: 'bin/app', mode: '0644' }])
  const plain = await seedRun(database, { instanceId: instance.id, slot: 1 })
  const given: RunSpec | undefined = (await specs()).find(({ epoch }: RunSpec) => epoch === plain.epoch)
  expect(given?.actions[0]).not.toHaveProperty('files')
})
