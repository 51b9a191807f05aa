import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { ConfigurationError } from '@slipway/runtime'
import { type OpenTestDatabase, openTestDatabase, repositoryRoot, testLogger } from '@slipway/testing'
import { waitForDatabase } from '../src/index.ts'

let server: OpenTestDatabase
beforeAll(async () => {
  server = await openTestDatabase()
})
afterAll(() => server.drop())

const migrate = () =>
  spawnSync(process.execPath, ['packages/database/scripts/migrate.mjs', 'schema'], {
    cwd: repositoryRoot,
    env: { ...process.env, DATABASE_URL: server.url },
    encoding: 'utf8',
  })

const waitAs = (role: 'gateway' | 'log-stream') =>
  waitForDatabase(server.as(role), {
    health: { check: () => {} } as never,
    logger: testLogger,
    signal: AbortSignal.timeout(10_000),
  })

test('a database of this history is migrated, and services use it', async () => {
  expect(migrate()).toMatchObject({ status: 0, stdout: expect.stringContaining('"applied":[]') })
  await waitAs('gateway')
})

test('a database that was made before the baseline is refused by the migrations and by services, with the way out', async () => {
  await server.database.query('DELETE FROM _prisma_migrations')
  await server.database.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at)
     VALUES ('1', '', '20261129015500_name_keys', now()), ('2', '', '20261129021600_log_volume', now())`,
  )
  const problem = /made before the baseline \d+_\w+: its newest migration is 20261129021600_log_volume.*slipway export/s
  expect(migrate()).toMatchObject({ status: 1, stderr: expect.stringMatching(problem) })
  await expect(waitAs('log-stream')).rejects.toThrow(ConfigurationError)
  await expect(waitAs('gateway')).rejects.toThrow(problem)
})
