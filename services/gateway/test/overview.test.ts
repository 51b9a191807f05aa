import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { PARKED } from '@slipway/database'
import { SLIPWAY_VERSION, uuidv7 } from '@slipway/runtime'
import { addPending } from '@slipway/testing'
import { addDeployment } from './deployment-rows.ts'
import { addTenant, addUser, type Client, clientOf, startGateway, type TestGateway } from './setup.ts'

let gateway: TestGateway
let admin: Client
let tenant: { id: string; admin: Client }

beforeAll(async () => {
  gateway = await startGateway()
  admin = clientOf(gateway, gateway.adminToken)
  tenant = await addTenant(gateway, 'overview')
})
beforeEach(async () => {
  for (const table of ['pending_requests', 'deployments', 'instances', 'freezes', 'environments'])
    await gateway.database.query(`DELETE FROM ${table}`)
})
afterAll(() => gateway.close())

const overview = async (client: Client) => (await client.send('getOverview', '/overview')).body
const counts = async (client: Client) => (await client.send('getOverviewCounts', '/overview/counts')).body.counts

/** Adds the result of a command that failed on the first target. */
async function fail(id: string, action: number, analysis: object | null, secondsAgo = 0): Promise<void> {
  await gateway.database.query(
    `INSERT INTO command_results (deployment_id, target_index, action_index, status, exit_code, stdout_tail, stderr_tail,
       error_message, analysis, started_at, completed_at)
     VALUES ($1, 0, $2, 'failed', 1, '', 'bash: nginx: command not found', 'exit code 1', $3,
             now() - make_interval(secs => $4), now())`,
    [id, action, analysis, secondsAgo],
  )
}

const told = (summary: string, fingerprint: string) => ({ summary, fingerprint })

test('shows what runs and what ended, to each caller only what it may see', async () => {
  const running = await addDeployment(gateway.database, { state: 'running' })
  const undone = await addDeployment(gateway.database, { state: 'rolling_back' })
  const own = await addDeployment(gateway.database, { state: 'success', tenant_id: tenant.id })
  const later = await addDeployment(gateway.database, { state: 'cancelled' })
  await gateway.database.query(`UPDATE deployments SET completed_at = now() + interval '1 hour' WHERE id = $1`, [later])
  const check = await addDeployment(gateway.database, { state: 'failed' })
  await gateway.database.query('UPDATE deployments SET is_check = true WHERE id = $1', [check])
  const ids = (items: { id: string }[]) => items.map(({ id }) => id)
  const all = await overview(admin)
  expect(ids(all.running)).toEqual([undone, running])
  expect(ids(all.ended)).toEqual([later, own])
  expect(all.counts).toEqual({ running: 2, pending: 0, to_approve: 0, failed: 0 })
  const theirs = await overview(tenant.admin)
  expect([ids(theirs.running), ids(theirs.ended)]).toEqual([[], [own]])
  expect(await counts(tenant.admin)).toEqual({ running: 0, pending: 0, to_approve: 0, failed: 0 })
})

test('groups the failures of a day by their first failed command', async () => {
  const failed = async (more: object = {}) => addDeployment(gateway.database, { state: 'failed', ...more })
  const [first, second] = [await failed(), await failed({ state: 'rolled_back' })]
  await fail(first, 1, told('later', 'b'))
  await fail(first, 0, told('The port 80 is taken', 'a'), 60)
  await fail(second, 0, told('The port 81 is taken', 'a'))
  const unknown = await failed({ tenant_id: tenant.id })
  const unexplained = await failed()
  await fail(unexplained, 0, null)
  const lost = await failed()
  await gateway.database.query(
    `UPDATE steps SET state = 'failed', ever_failed = true, error_message = 'the instance was lost', failure_reason = 'lost',
       started_at = now(), completed_at = now() WHERE deployment_id = $1 AND action_index = 0`,
    [lost],
  )
  await gateway.database.query('INSERT INTO run_progress (deployment_id, epoch, failed_steps) VALUES ($1, 1, 2)', [
    lost,
  ])
  const old = await failed()
  await gateway.database.query(`UPDATE deployments SET completed_at = now() - interval '25 hours' WHERE id = $1`, [old])

  const { at, failures, counts: counted } = await overview(admin)
  expect(counted.failed).toBe(5)
  expect(failures.total).toBe(5)
  expect(Date.parse(at) - Date.parse(failures.since)).toBe(86_400_000)
  type Group = { summary: string; count: number; fingerprint: string | null; deployments: { id: string }[] }
  const found = failures.groups.map(({ count, deployments }: Group) => [count, deployments.map(({ id }) => id).sort()])
  expect(found[0]).toEqual([2, [first, second].sort()])
  expect(found.slice(1).sort()).toEqual(
    [
      [1, [lost]],
      [1, [unexplained]],
      [1, [unknown]],
    ].sort(),
  )
  const groupOf = (id: string): Group => failures.groups.find((one: Group) => one.deployments.some((d) => d.id === id))
  expect(groupOf(first)).toMatchObject({
    fingerprint: 'a',
    summary: expect.stringMatching(/^The port 8[01] is taken$/),
  })
  expect(groupOf(unexplained).summary).toContain('nginx')
  expect(groupOf(lost).fingerprint).toMatch(/./)
  expect(groupOf(unknown)).toMatchObject({ fingerprint: null, summary: 'No failed command explains it' })
  expect((await overview(tenant.admin)).failures).toMatchObject({ total: 1, groups: [{ count: 1 }] })
})

test('tells what the queue waits for, parked requests last', async () => {
  const source = (name: string) => ({ type: 'action', id: uuidv7(), name, version: '1.0.0' })
  for (const name of ['shop', 'search', 'shop']) await addPending(gateway.database, { source: source(name) })
  const parked = await addPending(gateway.database, { source: source('billing'), tenant_id: tenant.id })
  await gateway.database.query(`UPDATE pending_requests SET parked_for = 'window', rank = $2 WHERE id = $1`, [
    parked,
    PARKED,
  ])
  const { queue, counts: counted } = await overview(admin)
  const reason = { pool_name: null, more_sources: 0 }
  expect(queue).toEqual({
    total: 4,
    first_estimated_start: null,
    reasons: [
      { ...reason, waiting_for: 'no_compatible_instance', count: 3, source_names: ['shop', 'search'] },
      { ...reason, waiting_for: 'window', count: 1, source_names: ['billing'] },
    ],
  })
  expect(counted.pending).toBe(4)
  expect((await overview(tenant.admin)).queue).toMatchObject({ total: 1, reasons: [{ waiting_for: 'window' }] })
})

test('counts the requests that the caller may approve', async () => {
  const { body: asking } = await admin.send('createEnvironment', '/environments', {
    name: 'asking',
    rules: { approvals: { count: 2 } },
  })
  const approver = await addUser(gateway, { role: 'admin' })
  const other = await addUser(gateway, { role: 'admin' })
  const request = async (author: string, approved: string[] = []) => {
    const id = await addPending(gateway.database, { command: { caller: { user_id: author } } })
    await gateway.database.query(
      `UPDATE pending_requests SET parked_for = 'approval', rank = $2, environment_id = $3,
         freeze_subject = freeze_subject || jsonb_build_object('environment_id', $3::uuid) WHERE id = $1`,
      [id, PARKED, asking.id],
    )
    for (const user of approved)
      await gateway.database.query(`INSERT INTO approvals (request_id, user_id, user_name) VALUES ($1, $2, 'x')`, [
        id,
        user,
      ])
  }
  await request(other.id)
  await request(other.id)
  await request(approver.id)
  await request(other.id, [approver.id])
  const asUser = async ({ token }: { token: string }) => (await counts(clientOf(gateway, token))).to_approve
  // Not those of the user, and not those that the user has approved.
  expect(await asUser(approver)).toBe(2)
  expect(await asUser(other)).toBe(1)
  const operator = await addUser(gateway, { role: 'operator' })
  expect(await asUser(operator)).toBe(0)
  expect((await counts(tenant.admin)).to_approve).toBe(0)
})

test('shows slots and freezes to those who may read them', async () => {
  await gateway.database.query(
    `INSERT INTO instances (id, name, version, capacity, credential_hash, last_heartbeat_at) VALUES ($1, 'one', $2, 4, '', now())`,
    [uuidv7(), SLIPWAY_VERSION],
  )
  const hours = (n: number) => new Date(Date.now() + n * 3_600_000).toISOString()
  const freeze = (name: string, from: number, to: number, more: object = {}) =>
    admin.send('createFreeze', '/deployment-freezes', { name, start_time: hours(from), end_time: hours(to), ...more })
  await freeze('now', -1, 1)
  await freeze('over', -3, -2)
  await freeze('tomorrow', 24, 25)
  await freeze('each day', -2, 2, { recurrence: 'FREQ=DAILY' })
  const { slots, freezes } = await overview(admin)
  expect(slots).toMatchObject({ used: 0, free: 4, online: 1, total: 1, instances: [{ name: 'one', active: 0 }] })
  const names = (list: { name: string }[]) => list.map(({ name }) => name)
  expect(names(freezes.active)).toEqual(['now', 'each day'])
  expect(names(freezes.next)).toEqual(['each day', 'tomorrow'])
  expect(Date.parse(freezes.active[1].until) - Date.parse(hours(2))).toBeLessThan(60_000)

  const { body: role } = await admin.send('createRole', '/admin/roles', {
    name: 'reader of deployments',
    permissions: ['deployments:read'],
  })
  const { id, token } = await addUser(gateway, { role: 'user' })
  await gateway.database.query('UPDATE user_roles SET role_id = $2 WHERE user_id = $1', [id, role.id])
  expect(await overview(clientOf(gateway, token))).toMatchObject({ slots: null, freezes: null })
})
