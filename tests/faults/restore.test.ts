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

/** A new database with what the newest file of the folder holds, and nothing else. */
async function restored(folder: string) {
  const database = await createTestDatabase()
  const restore = () =>
    run('sh', [backupScript('restore.sh')], { env: { ...process.env, DATABASE_URL: database.url, BACKUP_DIR: folder } })
  // Never under the feet of a service.
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

test('a backup of a suite at work, restored where nothing else is left: what ran ends, what waited starts, secrets open', async () => {
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
  // Every table that has rows at all: what row-level security hides from a dump is left out without a word.
  expect(await emptied(before.databaseUrl, saved.url)).toEqual([])
  const linesThen = await linesIn(saved.url, running)
  expect(linesThen).toBeGreaterThanOrEqual(5)
  expect(linesThen).toBeLessThan(20)
  const { admin: credentials } = before
  await before.stop()
  before = undefined

  // Names of its own in RabbitMQ and Redis, and an instance with an empty journal: the database is all that there is.
  after = await startSuite({ capacity: 1, database: saved, env: { SLIPWAY_ENCRYPTION_KEYS } })
  const api = await loginToSuite({ url: after.url, admin: credentials })
  const ended = await deploymentEnd(api, running, 90_000)
  expect(ended).toMatchObject({ state: 'success', completed_steps: 4, failed_steps: 0 })
  const second = await dispatchedDeployment(api, queued.body.pending_request_id, 60_000)
  expect(await deploymentEnd(api, second, 60_000)).toMatchObject({ state: 'success', completed_steps: 4 })

  const lines = await logHistory(api, running)
  expect(lines.map((line) => line.metadata.seq)).toEqual(lines.map((_, index) => index))
  expect(lines.slice(0, linesThen).every(({ stdout }) => stdout?.startsWith('***'))).toBe(true)
  expect(await violatedInvariants(saved.url)).toEqual([])
}, 300_000)

/** The folder with a dump of the suite's database, made as the CronJob of Kubernetes makes it. */
async function backedUp({ folder, databaseUrl }: Suite): Promise<string> {
  const backups = path.join(folder, 'backups')
  fs.mkdirSync(backups)
  // What a run that was killed left behind, a dump that is due to go, and one that is not.
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

/** How many lines of its log a database has. */
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
    // By way of its table a partition shows what it has, whatever is its own policy.
    for (const { name } of rows) {
      const { rowCount } = await client.query(`SELECT FROM ${name.replace(/^log_chunks_\w+$/, 'log_chunks')} LIMIT 1`)
      if (rowCount !== 0) names.push(name)
    }
    await client.end()
    return names
  }
  const kept = new Set(await full(to))
  // Sent messages leave the outbox at any moment.
  return (await full(from)).filter((name) => name !== 'outbox' && !kept.has(name))
}
