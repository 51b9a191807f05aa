import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from '@jest/globals'
import {
  connectTo,
  createAction,
  createLocalTarget,
  createSequence,
  createTestDatabase,
  deploymentEnd,
  dispatchedDeployment,
  logHistory,
  loginToSuite,
  repositoryRoot,
  type Suite,
  startSuite,
  TEST_ROLE_PREFIX,
  violatedInvariants,
  waitFor,
} from '@slipway/testing'

const run = promisify(execFile)
const SLIPWAY_ENCRYPTION_KEYS = `test:${randomBytes(32).toString('base64')}`

let before: Suite | undefined
let after: Suite | undefined

afterAll(async () => {
  await before?.stop()
  await after?.stop()
})

const backupScript = (name: string) => path.join(repositoryRoot, 'deploy/backup', name)

/** A new database that is restored from the newest dump of the folder. */
async function restored(folder: string) {
  const database = await createTestDatabase()
  const restore = () =>
    run('sh', [backupScript('restore.sh')], { env: { ...process.env, DATABASE_URL: database.url, BACKUP_DIR: folder } })
  // The restore refuses a database with open connections, so it cannot run while services use the database.
  const client = await connectTo(database.url)
  await expect(restore()).rejects.toThrow('1 connections are open')
  await client.end()
  await waitFor(async () => (await restore()).stdout.includes('run the migrations'))
  await run(process.execPath, ['packages/database/scripts/migrate.mjs', 'deploy'], {
    cwd: repositoryRoot,
    env: { ...process.env, DATABASE_URL: database.url, SLIPWAY_ROLE_PREFIX: TEST_ROLE_PREFIX },
  })
  return database
}

test('after a restore of a backup, running deployments end, pending requests start, and secrets can be opened', async () => {
  before = await startSuite({ capacity: 1, env: { SLIPWAY_ENCRYPTION_KEYS } })
  const admin = await loginToSuite(before)
  const script = 'for n in 1 2 3 4 5; do echo "{{ word }} $n"; sleep 0.2; done'
  const variables = [{ name: 'word', sensitive: true, required: true }]
  const actions = await Promise.all([1, 2, 3, 4].map(() => createAction(admin, { script, variables })))
  const request = {
    sequence_id: await createSequence(admin, actions),
    target_ids: [await createLocalTarget(admin)],
    max_retries: 1,
    variables: { word: 'correct-horse-battery' },
  }
  const running: string = (await admin.post('/deployments', request)).body.deployment_id
  const queued = await admin.post('/deployments', request)
  expect(queued.status).toBe(202)
  await waitFor(async () => (await admin.get(`/deployments/${running}`)).body.completed_steps >= 1)

  const saved = await restored(await backedUp(before))
  // Compares all tables: a dump leaves out rows that row-level security hides, without an error.
  expect(await emptied(before.databaseUrl, saved.url)).toEqual([])
  const linesThen = await linesIn(saved.url, running)
  expect(linesThen).toBeGreaterThanOrEqual(5)
  expect(linesThen).toBeLessThan(20)
  const { admin: credentials } = before
  await before.stop()
  before = undefined

  // RabbitMQ and Redis have new namespaces, and the instance has an empty journal: only the database is restored.
  after = await startSuite({ capacity: 1, database: saved, env: { SLIPWAY_ENCRYPTION_KEYS } })
  const api = await loginToSuite({ url: after.url, admin: credentials })
  const ended = await deploymentEnd(api, running, 90_000)
  expect(ended).toMatchObject({ state: 'success', completed_steps: 4, failed_steps: 0 })
  const second = await dispatchedDeployment(api, queued.body.pending_request_id)
  expect(await deploymentEnd(api, second)).toMatchObject({ state: 'success', completed_steps: 4 })

  const lines = await logHistory(api, running)
  expect(lines.map((line) => line.metadata.seq)).toEqual(lines.map((_, index) => index))
  expect(lines.slice(0, linesThen).every(({ stdout }) => stdout?.startsWith('***'))).toBe(true)
  expect(await violatedInvariants(saved.url)).toEqual([])
})

/** Dumps the database of the suite with the script of the Kubernetes CronJob. Returns the folder. */
async function backedUp({ folder, databaseUrl }: Suite): Promise<string> {
  const backups = path.join(folder, 'backups')
  fs.mkdirSync(backups)
  // The part of a killed dump, a dump that is old enough to be deleted, and one that is not.
  const [partial, old, recent] = [
    'slipway-20200101T000000Z.dump.part',
    'slipway-20200101T000000Z.dump',
    'slipway-1.dump',
  ]
  for (const name of [partial, old, recent]) fs.writeFileSync(path.join(backups, name), '')
  fs.utimesSync(path.join(backups, old), new Date('2020-01-01'), new Date('2020-01-01'))
  await run('sh', [backupScript('backup.sh')], {
    env: { ...process.env, DATABASE_URL: databaseUrl, BACKUP_DIR: backups },
  })
  expect(fs.readdirSync(backups).sort()).toEqual([recent, expect.stringMatching(/^slipway-\d{8}T\d{6}Z\.dump$/)])
  return backups
}

/** The number of log lines of a deployment in a database. */
async function linesIn(url: string, deploymentId: string): Promise<number> {
  const client = await connectTo(url)
  const { rows } = await client.query<{ lines: number }>(
    'SELECT coalesce(sum(line_count), 0)::int AS lines FROM log_chunks WHERE deployment_id = $1',
    [deploymentId],
  )
  await client.end()
  return rows[0]?.lines ?? 0
}

/** The tables, partitions among them, that have rows in the first database and none in the second. */
async function emptied(from: string, to: string): Promise<string[]> {
  const full = async (url: string) => {
    const client = await connectTo(url)
    const { rows } = await client.query<{ name: string }>(
      "SELECT c.oid::regclass::text AS name FROM pg_class c WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
    )
    const names: string[] = []
    // Read partitions through their table: row-level security may hide rows of a partition that is read directly.
    for (const { name } of rows) {
      const { rowCount } = await client.query(`SELECT FROM ${name.replace(/^log_chunks_\w+$/, 'log_chunks')} LIMIT 1`)
      if (rowCount !== 0) names.push(name)
    }
    await client.end()
    return names
  }
  const kept = new Set(await full(to))
  // The relay deletes sent messages from the outbox at any moment.
  return (await full(from)).filter((name) => name !== 'outbox' && !kept.has(name))
}
