import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type OpenTestDatabase, openTestDatabase } from '@slipway/testing'
import { uuidArray } from '../src/index.ts'

let server: OpenTestDatabase

beforeAll(async () => {
  server = await openTestDatabase()
})

afterAll(() => server.drop())

const read = async (uuids: string[]) =>
  (await server.as('planner').query('SELECT ARRAY(SELECT unnest($1::uuid[])) AS read', [uuidArray(uuids)])).rows[0]?.[
    'read'
  ]

test('Postgres reads the UUIDs that were written, in their order', async () => {
  const uuids = ['00000000-0000-0000-0000-000000000000', 'FFFFFFFF-0a4b-4c1d-8e2f-0123456789AB']
  const many = Array.from({ length: 10_000 }, () => crypto.randomUUID())
  for (const given of [[], uuids, [...uuids, ...uuids], many]) {
    expect(await read(given)).toEqual(given.map((uuid) => uuid.toLowerCase()))
  }
})

test('text that is no UUID is refused, not passed over', () => {
  const [good, bad] = ['00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-00000000000g']
  for (const given of [
    [bad],
    [bad, good],
    [good, bad],
    [good, ''],
    [`${good}00`],
    [good.replace('-', '0')],
    [good.slice(1), `0${good}`],
  ]) {
    expect(() => uuidArray(given)).toThrow(TypeError)
  }
})
