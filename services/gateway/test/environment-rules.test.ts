import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { uuidv7 } from '@slipway/runtime'
import { addTenant, addUser, type Client, clientOf, refusal, refused, startGateway, type TestGateway } from './setup.ts'

let gateway: TestGateway
let admin: Client
beforeAll(async () => {
  gateway = await startGateway()
  admin = clientOf(gateway, gateway.adminToken)
})
afterAll(() => gateway.close())

let counter = 0
const unique = (name: string) => `${name} ${++counter}`

const create = (rules: unknown, more: object = {}, by = admin) =>
  by.send('createEnvironment', '/environments', { name: unique('Environment'), rules, ...more })
const change = (id: string, rules: unknown) => admin.send('updateEnvironment', `/environments/${id}`, { rules })
const newRole = async () => {
  const { body } = await admin.send('createRole', '/admin/roles', { name: unique('managers'), permissions: [] })
  return body as { id: string; name: string }
}

const WINDOW = { start_time: '2026-12-07T09:00:00+01:00', end_time: '2026-12-07T16:00:00+01:00' }

test('rules are shown as they count: roles by name, environments by id, with all defaults', async () => {
  const { body: staging } = await create(undefined)
  expect(staging.rules).toBeNull()
  const role = await newRole()
  const { status, body } = await create({
    approvals: { role: role.name },
    windows: [{ ...WINDOW, recurrence: 'FREQ=WEEKLY;BYDAY=MO', time_zone: 'Europe/Zurich' }, WINDOW],
    promotion: { from_environment_id: staging.sqid },
  })
  expect(status).toBe(201)
  const shown = {
    approvals: { count: 1, role: role.name, allow_author: false, expires_in_seconds: 86_400 },
    windows: [
      { ...WINDOW, recurrence: 'FREQ=WEEKLY;BYDAY=MO', time_zone: 'Europe/Zurich' },
      { ...WINDOW, recurrence: null, time_zone: null },
    ],
    promotion: { from_environment_id: staging.id, hours: 0 },
  }
  expect(body.rules).toEqual(shown)
  // The role is kept by its id.
  await admin.send('updateRole', `/admin/roles/${role.id}`, { name: `${role.name} of releases` })
  const { body: read } = await admin.send('getEnvironment', `/environments/${body.id}`)
  expect(read.rules.approvals.role).toBe(`${role.name} of releases`)
})

test('a change replaces all rules, null takes them away, and the dispatcher and the audit log are told', async () => {
  const { body: made } = await create({ approvals: { count: 2 } })
  const told = async () => {
    const { rows } = await gateway.database.query<{ type: string }>(
      `DELETE FROM outbox WHERE body ->> 'environment_id' = $1 RETURNING type`,
      [made.id],
    )
    return rows.map(({ type }) => type)
  }
  await told()
  const { body: changed } = await change(made.id, { windows: [WINDOW] })
  expect(changed.rules).toEqual({ windows: [{ ...WINDOW, recurrence: null, time_zone: null }] })
  expect(await told()).toEqual(['rules.changed'])
  const { rows } = await gateway.database.query<{ details: object }>(
    `SELECT details FROM audit_records WHERE resource_id = $1 AND action = 'environment.update' ORDER BY id DESC LIMIT 1`,
    [made.id],
  )
  expect(rows[0]?.details).toMatchObject({
    changes: { rules: { from: { approvals: { count: 2 } }, to: { windows: [WINDOW] } } },
  })
  expect((await change(made.id, null)).body.rules).toBeNull()
  const { body: renamed } = await admin.send('updateEnvironment', `/environments/${made.id}`, { name: unique('Other') })
  expect(renamed.rules).toBeNull()
  expect(await told()).toEqual(['rules.changed'])
})

describe('rules are refused', () => {
  test.each<[string, unknown, string]>([
    ['an empty object', {}, '/rules'],
    ['six approvals', { approvals: { count: 6 } }, '/rules/approvals/count'],
    ['approvals within a second', { approvals: { expires_in_seconds: 1 } }, '/rules/approvals/expires_in_seconds'],
    ['a role that is not there', { approvals: { role: 'nobody' } }, '/rules/approvals/role'],
    ['no window', { windows: [] }, '/rules/windows'],
    [
      'a window that ends before it begins',
      { windows: [WINDOW, { ...WINDOW, end_time: WINDOW.start_time }] },
      '/rules/windows/1/end_time',
    ],
    [
      'a recurrence that never matches',
      { windows: [{ ...WINDOW, recurrence: 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30' }] },
      '/rules/windows/0/recurrence',
    ],
    ['an unknown time zone', { windows: [{ ...WINDOW, time_zone: 'Europe/Nowhere' }] }, '/rules/windows/0/time_zone'],
    ['a field that is none', { approval: {} }, '/rules/approval'],
  ])('with %s', async (_, rules, path) => {
    const answer = await create(rules)
    expect(answer.status).toBe(400)
    expect(JSON.stringify(answer.body.error.details)).toContain(`"${path}"`)
  })

  test('with an environment that is not there, or of another tenant', async () => {
    const promotion = { from_environment_id: uuidv7() }
    expect(refusal(await create({ promotion }))).toMatchObject(refused(404, 'NOT_FOUND'))
    const tenant = await addTenant(gateway, unique('tenant'))
    const { body: theirs } = await create(undefined, {}, tenant.admin)
    expect((await create({ promotion: { from_environment_id: theirs.id } })).status).toBe(400)
    expect((await create({ promotion: { from_environment_id: theirs.id } }, {}, tenant.admin)).status).toBe(201)
  })

  test('with a chain that leads back', async () => {
    const { body: first } = await create(undefined)
    const { body: second } = await create({ promotion: { from_environment_id: first.id } })
    const { body: third } = await create({ promotion: { from_environment_id: second.id } })
    for (const from of [first, third]) {
      const answer = await change(first.id, { promotion: { from_environment_id: from.id } })
      expect(answer.status).toBe(400)
      expect(answer.body.error.message).toContain('leads back')
    }
  })
})

test('what rules name cannot be deleted', async () => {
  const { body: staging } = await create(undefined)
  const role = await newRole()
  const { body: production } = await create({
    approvals: { role: role.name },
    promotion: { from_environment_id: staging.id },
  })
  const used = await admin.send('deleteEnvironment', `/environments/${staging.id}`)
  expect(refusal(used)).toMatchObject(refused(409, 'CONFLICT'))
  expect(used.body.error.message).toContain(production.name)
  expect(refusal(await admin.send('deleteRole', `/admin/roles/${role.id}`))).toMatchObject(refused(409, 'CONFLICT'))
  await change(production.id, null)
  expect((await admin.send('deleteEnvironment', `/environments/${staging.id}`)).status).toBe(204)
  expect((await admin.send('deleteRole', `/admin/roles/${role.id}`)).status).toBe(204)
})

describe('a create', () => {
  const body = { action_id: uuidv7(), target_ids: [uuidv7()] }

  test('overrides rules only as an administrator, and with a reason', async () => {
    const operator = clientOf(gateway, (await addUser(gateway, { role: 'operator' })).token)
    const overriding = { ...body, override_rules: true, override_reason: 'outage' }
    const answer = await operator.send('createDeployment', '/deployments', overriding)
    expect(refusal(answer)).toMatchObject(refused(403, 'INSUFFICIENT_PERMISSIONS'))
    const without = await admin.send('createDeployment', '/deployments', { ...body, override_rules: true })
    expect(refusal(without)).toMatchObject(refused(400, 'MISSING_FIELD'))
  })

  test.each<[object, string]>([
    [{ expires_at: '2020-01-01T00:00:00Z' }, '/expires_at'],
    [{ start_at: '2099-01-02T00:00:00Z', expires_at: '2099-01-01T00:00:00Z' }, '/expires_at'],
    [{ start_at: 'tomorrow' }, '/start_at'],
    [{ start_at: '2099-02-30T00:00:00Z' }, '/start_at'],
  ])('with %j is refused', async (times, path) => {
    const answer = await admin.send('createDeployment', '/deployments', { ...body, ...times })
    expect(answer.status).toBe(400)
    expect(JSON.stringify(answer.body.error.details)).toContain(`"${path}"`)
  })
})

test('what may be promoted is read from what is in force', async () => {
  const [{ body: from }, { body: to }] = [await create(undefined), await create(undefined)]
  const { body: action } = await admin.send('createAction', '/actions', {
    name: unique('Action'),
    version: '1.0.0',
    definition: { type: 'script', script: 'true' },
  })
  const newTarget = async (environment_id: string) => {
    const given = { name: unique('target'), environment_id, connection: { type: 'local' } }
    return (await admin.send('createTarget', '/targets', given)).body.id as string
  }
  const [before, after] = [await newTarget(from.id), await newTarget(to.id)]
  const read = async () => {
    const query = `source_type=action&source_id=${action.id}&from_environment_id=${from.id}&to_environment_id=${to.id}`
    return (await admin.send('getPromotion', `/releases/promotion?${query}`)).body
  }
  expect(await read()).toMatchObject({ version: null, target_ids: [], blockers: [expect.stringContaining(from.name)] })
  const deployment_id = uuidv7()
  for (const target of [before, after]) {
    await gateway.database.query(
      `INSERT INTO releases (deployment_id, target_id, source_type, source_id, source_name, source_version, state, begun_at, ended_at)
       VALUES ($1, $2, 'action', $3, 'a', '1.0.0', 'applied', now(), now())`,
      [deployment_id, target, action.id],
    )
    await gateway.database.query(
      'INSERT INTO release_heads (target_id, source_id, current_deployment_id, current_since) VALUES ($1, $2, $3, now())',
      [target, action.id, deployment_id],
    )
  }
  expect(await read()).toMatchObject({
    version: '1.0.0',
    deployment_id,
    ready_at: null,
    blockers: [],
    target_ids: [after],
  })
  await change(to.id, { promotion: { from_environment_id: from.id, hours: 1 } })
  const early = await read()
  expect(early).toMatchObject({ version: '1.0.0', blockers: [expect.stringContaining('must stay')] })
  expect(Date.parse(early.ready_at) - Date.parse(early.since)).toBe(3_600_000)
})
