import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { connectTo, createTestDatabase, repositoryFiles, repositoryRoot, type TestDatabase } from '@slipway/testing'
import { LOCK_KEYS, LOCK_KEYS_BY_VALUE } from '../src/index.ts'

let made: TestDatabase
beforeAll(async () => {
  made = await createTestDatabase()
})
afterAll(() => made.drop())

const EVERY_KEY = [
  ...Object.values(LOCK_KEYS),
  ...Object.values(LOCK_KEYS_BY_VALUE).map((keyOf) => keyOf(`'01900000-0000-7000-8000-000000000001'`)),
]

test('no two advisory locks have the same key', async () => {
  const client = await connectTo(made.url)
  try {
    for (const key of EVERY_KEY) await client.query(`SELECT pg_advisory_lock(${key})`)
    // A session that takes one key twice holds one lock.
    const { rows } = await client.query(
      `SELECT count(*)::int AS held FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()`,
    )
    expect(rows).toEqual([{ held: EVERY_KEY.length }])
  } finally {
    await client.end()
  }
})

test('a lock for one value differs from the same lock for another value', async () => {
  const client = await connectTo(made.url)
  try {
    for (const keyOf of Object.values(LOCK_KEYS_BY_VALUE)) {
      const { rows } = await client.query(`SELECT ${keyOf(`'a'`)} <> ${keyOf(`'b'`)} AS differs`)
      expect(rows).toEqual([{ differs: true }])
    }
  } finally {
    await client.end()
  }
})

const LOCK_CALL = /pg_(?:try_)?advisory_\w*lock\w*\(\s*([^\s)]*)/g

test('every use of an advisory lock takes its key from the registry', () => {
  const sources = repositoryFiles('*.ts', '*.mjs').filter((file) => !file.endsWith('lock-keys.test.ts'))
  const calls = sources.flatMap((file) =>
    [...fs.readFileSync(path.join(repositoryRoot, file), 'utf8').matchAll(LOCK_CALL)].map(([, key]) => ({ file, key })),
  )
  expect(calls.length).toBeGreaterThan(EVERY_KEY.length / 2)
  const foreign = calls.filter(({ key }) => !/^\$\{LOCK_KEYS(_BY_VALUE)?\./.test(key ?? ''))
  expect(foreign).toEqual([])
})

test('every advisory lock that a migration takes is in the registry', () => {
  const calls = repositoryFiles('prisma/migrations/*.sql').flatMap((file) =>
    [...fs.readFileSync(path.join(repositoryRoot, file), 'utf8').matchAll(/advisory_\w+\((.*?)\)\s*(?:;|THEN)/g)].map(
      ([, key]) => key ?? '',
    ),
  )
  expect(calls.length).toBeGreaterThan(0)
  for (const key of calls) expect(Object.values(LOCK_KEYS)).toContain(key)
})
