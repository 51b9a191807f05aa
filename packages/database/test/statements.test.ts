import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import {
  connectTo,
  loadStatements,
  type OpenTestDatabase,
  openTestDatabase,
  repositoryFiles,
  repositoryRoot,
  statementProblems,
} from '@slipway/testing'
import type pg from 'pg'
import {
  int4,
  int8,
  jsonb,
  nullable,
  oneOf,
  rowSet,
  Statement,
  statements,
  text,
  timestamptz,
  uuid,
} from '../src/index.ts'

let server: OpenTestDatabase
let client: pg.Client

beforeAll(async () => {
  server = await openTestDatabase()
  client = await connectTo(server.url)
})
afterAll(async () => {
  await client.end()
  await server.drop()
})

test('all statements have the types that they declare', async () => {
  const declared = await loadStatements()
  expect(declared.size).toBeGreaterThan(300)
  const problems = []
  for (const statement of declared.values()) problems.push(...(await statementProblems(client, statement)))
  expect(problems).toEqual([])
})

test('services send SQL only as statements', () => {
  // The folders of this package beside these two send other SQL, such as BEGIN and GRANT.
  const others = /^packages\/database\/src\/(?!audit\/|read-models\/)/
  const found = repositoryFiles('packages/*/src/*.ts', 'services/*/src/*.ts')
    .filter((file) => !others.test(file))
    .filter((file) => /\.query[(<]|\$(query|execute)Raw/.test(fs.readFileSync(path.join(repositoryRoot, file), 'utf8')))
  expect(found).toEqual([])
})

test('one statement inserts into the outbox: that of enqueue, with typed messages', () => {
  const inserting = [...statements.values()].filter(({ text }) => /INSERT INTO outbox/i.test(text))
  expect(inserting.map(({ name }) => name)).toEqual(['database.outbox.insert'])
})

test('every statement has at most 40 lines and a name that Postgres accepts', () => {
  const long = [...statements.values()].filter(({ name, text }) => name.length > 63 || text.split('\n').length > 40)
  expect(long.map(({ name }) => name)).toEqual([])
})

describe('a statement', () => {
  const PAIRS = new Statement({
    name: 'planted.pairs',
    parameters: { pairs: rowSet({ id: uuid, value: jsonb<unknown>() }, 'place'), at: nullable(timestamptz) },
    row: { id: uuid, value: jsonb<unknown>(), place: int8, at: nullable(timestamptz) },
    sql: 'SELECT id, value, place, :at::timestamptz AS at FROM :pairs AS pair',
  })
  const ids = [randomUUID(), randomUUID()]
  const pairsOf = (...values: unknown[]) => values.map((value, index) => ({ id: ids[index] ?? '', value }))

  test('takes sets of rows and other parameters by name, repeatedly, and returns typed rows', async () => {
    for (const at of [new Date(), null]) {
      const values = [[1, 'two, "2"', 'C:\\n\n\u2028\u0001 é {}'], { 'th"ree\\': null }]
      expect(await PAIRS.all(server.database, { pairs: pairsOf(...values), at })).toEqual([
        { id: ids[0], value: values[0], place: 1, at },
        { id: ids[1], value: values[1], place: 2, at },
      ])
    }
    expect(await PAIRS.first(server.database, { pairs: [], at: null })).toBeNull()
    await expect(PAIRS.one(server.database, { pairs: [], at: null })).rejects.toThrow('planted.pairs returned no row')
  })

  test('is prepared in Postgres under its name', async () => {
    await client.query('DEALLOCATE ALL')
    await PAIRS.run(client, { pairs: [], at: null })
    const { rows } = await client.query('SELECT name, statement FROM pg_prepared_statements')
    expect(rows).toEqual([{ name: 'planted.pairs', statement: expect.stringContaining('/* planted.pairs */ SELECT') }])
  })

  test('fails if a column is null and not declared nullable', async () => {
    await expect(PAIRS.all(server.database, { pairs: pairsOf(null), at: null })).rejects.toThrow(
      'the column value is null',
    )
  })
})

describe('the check of a declaration', () => {
  const problemsOf = (parameters: object, row: object, sql: string) =>
    statementProblems(
      client,
      new Statement({ name: 'planted', parameters, row, sql }) as unknown as Statement<unknown, unknown>,
    )
  const USERS = 'FROM users u LEFT JOIN tenants t ON t.id = u.tenant_id WHERE u.id = :id'

  test.each([
    ['no problem if valid', { id: uuid }, { id: uuid, name: nullable(text) }, `SELECT u.id, t.name ${USERS}`, []],
    ['a table that does not exist', {}, {}, 'SELECT FROM nowhere', ['relation "nowhere" does not exist']],
    ['a column that does not exist', {}, {}, 'SELECT nothing FROM users', ['column "nothing" does not exist']],
    ['a column that is not declared', {}, {}, 'SELECT id FROM users', ['the column id is not declared']],
    ['a column that is not read', {}, { id: uuid, name: text }, 'SELECT id FROM users', ['there is no column name']],
    ['a wrong type', {}, { id: text }, 'SELECT id FROM users', ['the column id is of type uuid, declared text']],
    [
      'a wrong type of an expression',
      {},
      { n: int4 },
      'SELECT count(*) AS n FROM users',
      ['the column n is of type bigint, declared int4'],
    ],
    [
      'a wrong type of a parameter',
      { id: text },
      {},
      'SELECT FROM users WHERE id = :id',
      ['the parameter id is of type uuid, declared text'],
    ],
    [
      'a list as a single value',
      { ids: uuid },
      {},
      'SELECT FROM users WHERE id = ANY(:ids)',
      ['the parameter ids is of type uuid[], declared uuid'],
    ],
    [
      'a parameter without a use',
      { id: uuid, other: uuid },
      {},
      'SELECT FROM users WHERE id = :id',
      ['the parameter other is of type -, declared uuid'],
    ],
    [
      'a column that may be null',
      {},
      { tenant_id: uuid },
      'SELECT tenant_id FROM users',
      ['the column tenant_id may be null'],
    ],
    [
      'a column that is never null',
      {},
      { id: nullable(uuid) },
      'SELECT id FROM users',
      ['the column id is never null, declared allowed'],
    ],
    [
      'the nullable side of a join',
      { id: uuid },
      { name: text },
      `SELECT t.name ${USERS}`,
      ['the column name may be null'],
    ],
    [
      'other values of an enum',
      {},
      { state: oneOf('deployment_state', ['running']) },
      'SELECT state FROM deployments',
      [expect.stringContaining('the column state is one of')],
    ],
  ])('finds %s', async (_, parameters, row, sql, problems) => {
    expect(await problemsOf(parameters, row, sql)).toEqual(
      problems.map((problem) => (typeof problem === 'string' ? `planted: ${problem}` : problem)),
    )
  })
})
