import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { SLIPWAY_VERSION } from '@slipway/runtime'
import {
  type Api,
  completeLines,
  connectTo,
  createAction,
  createLocalTarget,
  deploymentEnd,
  loginToSuite,
  repositoryRoot,
  type Suite,
  startSuite,
  waitFor,
} from '@slipway/testing'

let suite: Suite
let database: Awaited<ReturnType<typeof connectTo>>
let admin: Api

beforeAll(async () => {
  suite = await startSuite({ capacity: 1, secondInstance: true })
  database = await connectTo(suite.databaseUrl)
  admin = await loginToSuite(suite)
})
afterAll(async () => {
  await database?.end()
  await suite?.stop()
})

interface Instance {
  id: string
  name: string
  status: string
}
const instances = async () => (await admin.get('/admin/instances')).body.data as Instance[]
const instanceNamed = async (name: string) => (await instances()).find((instance) => instance.name === name)
const SERVICES = { one: 'orchestration-instance', two: 'orchestration-instance-2' } as const
const cli = (...args: string[]) =>
  spawnSync(process.execPath, [path.join(repositoryRoot, 'packages/cli/bin/slipway.mjs'), ...args], {
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', SLIPWAY_URL: suite.url, SLIPWAY_TOKEN: admin.token },
    encoding: 'utf8',
  })

test('an instance that is removed during a run stops at once, and another one continues without overlap', async () => {
  const file = path.join(suite.folder, 'starts')
  // A command writes OVERLAP if the previous command still runs.
  const script = `
    last=$(tail -n 1 ${file} 2>/dev/null)
    if [ -n "$last" ] && kill -0 "$last" 2>/dev/null; then echo OVERLAP >>${file}; fi
    echo $$ >>${file}
    [ "$(wc -l <${file})" -gt 1 ] || sleep 600`
  const { body } = await admin.post('/deployments', {
    action_id: await createAction(admin, { script }),
    target_ids: [await createLocalTarget(admin)],
    max_retries: 1,
  })
  await waitFor(() => completeLines(file).length === 1, { what: 'the command to start' })
  const { rows } = await database.query(
    `SELECT i.name FROM leases l JOIN instances i ON i.id = l.instance_id WHERE l.deployment_id = $1`,
    [body.deployment_id],
  )
  const name = rows[0].name as 'one' | 'two'
  expect(cli('instances', 'remove', name)).toMatchObject({ status: 3, stderr: expect.stringContaining('force=true') })

  expect(cli('instances', 'remove', name, '--force')).toMatchObject({ status: 0 })
  await waitFor(() => suite.logOf(SERVICES[name]).includes('an administrator has removed this instance'))
  expect(await instanceNamed(name)).toBeUndefined()
  expect(await deploymentEnd(admin, body.deployment_id)).toMatchObject({ state: 'success' })
  expect(completeLines(file)).toEqual([expect.any(String), expect.any(String)])

  // The instance can join again under its name with a new token.
  const made = cli('instances', 'join-token')
  fs.writeFileSync(path.join(suite.folder, `join-token-${name}`), made.stdout)
  await waitFor(async () => (await instanceNamed(name))?.status === 'online', { what: 'the instance to be back' })
})

test('a join with a copied token under an existing name is refused and recorded', async () => {
  const { body: grant } = await admin.post('/instances/grants', { uses: 5 })
  const stolen = await fetch(`${suite.bridgeUrl}/v1/instances`, {
    method: 'POST',
    headers: { authorization: `Bearer ${grant.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'two', version: SLIPWAY_VERSION, capacity: 100, labels: {} }),
  })
  expect(stolen.status).toBe(409)
  expect((await admin.get(`/instances/grants/${grant.id}`)).body).toMatchObject({ status: 'active', used: 0 })
  const { body: audit } = await admin.get(`/audit/logs?action=instance.join&limit=1`)
  expect(audit.data[0]).toMatchObject({
    actor_name: `join token ${grant.id}`,
    details: { outcome: 'refused', name: 'two', code: 'CONFLICT' },
  })
})

test('joins are in the audit log with their grant', async () => {
  const { body } = await admin.get('/audit/logs?action=instance.join&resource_type=instance')
  const joined = (body.data as { details: { name: string; outcome?: string } }[]).filter(
    ({ details }) => !details.outcome,
  )
  expect(joined.map(({ details }) => details.name).sort()).toEqual(expect.arrayContaining(['one', 'two']))
  expect(joined[0]).toMatchObject({
    actor_name: expect.stringMatching(/^join token /),
    resource_id: expect.any(String),
  })
})

test('an instance exchanges a credential that is a day old, and uses the new one after a crash', async () => {
  const file = path.join(suite.folder, 'journal-two/identity.json')
  const stored = () => JSON.parse(fs.readFileSync(file, 'utf8'))
  await waitFor(async () => (await instanceNamed('two'))?.status === 'online', { what: 'the instance to be online' })
  await suite.kill(SERVICES.two)
  const identity = stored()
  const before = identity.membership.credential
  identity.membership.credential_since = '2026-01-01T00:00:00Z'
  fs.writeFileSync(file, JSON.stringify(identity))
  await suite.start(SERVICES.two)
  await waitFor(() => stored().membership.next_credential === null && stored().membership.credential !== before)
  await suite.kill(SERVICES.two)
  await suite.start(SERVICES.two)
  expect((await instanceNamed('two'))?.status).toBe('online')
  const { rows } = await database.query(`SELECT former_credential_hash FROM instances WHERE name = 'two'`)
  expect(rows[0].former_credential_hash).toBe(createHash('sha256').update(before).digest('hex'))
})
