import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { Broker } from '@slipway/broker'
import type { Envelope } from '@slipway/contracts'
import { deriveParts } from '@slipway/database'
import { addDeployment, execute } from './deployment-rows.ts'
import { startOtherServices } from './other-services.ts'
import {
  addTenant,
  type Client,
  clientOf,
  refusal,
  refused,
  startGateway,
  type TestGateway,
  UNKNOWN_ID,
} from './setup.ts'

let gateway: TestGateway
let admin: Client
let dispatcher: Broker
let a: { id: string; admin: Client }
let b: { id: string; admin: Client }
const sent: Envelope[] = []
const ids: Record<string, string> = {}
const sqids: Record<string, string> = {}
const id = (name: string) => ids[name] ?? ''

async function create(op: 'createAction' | 'createTarget', path: string, body: { name: string }) {
  const created = (await admin.send(op, path, body)).body
  ids[body.name] = created.id
  sqids[body.name] = created.sqid
}

async function deploy(targets: string[], tenant_id: string | null, outcome: 'completed' | 'failed' | 'running') {
  const source = { source_id: id('web'), source_name: 'web', source_version: '1.0.0' }
  const target_ids = targets.map(id)
  const deployment = await addDeployment(gateway.database, { ...source, target_ids, tenant_id })
  await execute(gateway.database, deployment, outcome)
  return deployment
}

/** Inserts the result of a check of the source on a target. */
const found = (target: string, deployment: string, result: 'in_sync' | 'drifted' | 'unknown') =>
  gateway.database.query(
    `INSERT INTO release_checks (target_id, source_id, deployment_id, result, checked_at, message, drifted_since)
     VALUES ($1, $2, $3, $4, '2026-01-31T09:00:00Z', 'app.conf differs',
             CASE WHEN $4 = 'drifted' THEN '2026-01-31T08:00:00Z'::timestamptz END)`,
    [id(target), id('web'), deployment, result],
  )

beforeAll(async () => {
  gateway = await startGateway()
  dispatcher = await startOtherServices(gateway, (message) => {
    sent.push(message)
    return { ok: true, result: {} }
  })
  admin = clientOf(gateway, gateway.adminToken)
  a = await addTenant(gateway, 'A')
  b = await addTenant(gateway, 'B')
  const definition = { type: 'script', script: 'true', check: { script: 'true' } }
  await create('createAction', '/actions', { name: 'web', ...{ version: '1.0.0', definition } })
  for (const name of ['one', 'two', 'three', 'shared', 'idle']) {
    await create('createTarget', '/targets', { name, ...{ connection: { type: 'simulated' } } })
  }
  const deployment = await deploy(['one', 'two', 'three'], null, 'completed')
  ids['deployment'] = deployment
  await found('one', deployment, 'drifted')
  await found('two', deployment, 'in_sync')
  await found('shared', await deploy(['shared'], b.id, 'completed'), 'drifted')
  // The failed attempt makes the head visible to tenant a, but not the release in force.
  await deploy(['shared'], a.id, 'failed')
})
beforeEach(() => {
  sent.length = 0
})
afterAll(async () => {
  await dispatcher.close()
  await gateway.close()
})

interface Row {
  target_name: string
  state: string
  check: { result: string; drifted_since: string | null; message: string } | null
}

async function list(query = '', client = admin): Promise<Row[]> {
  const { status, body } = await client.send('listReleases', `/releases?${query}`)
  expect(status).toBe(200)
  return body.data
}
const line = ({ target_name, state, check }: Row) => `${target_name} ${state} ${check?.result ?? '-'}`

describe('lists of releases', () => {
  test('show the result of the last check', async () => {
    const rows = await list()
    expect(rows.map(line)).toEqual([
      'one drifted drifted',
      'shared drifted drifted',
      'three applied -',
      'two applied in_sync',
    ])
    expect(rows[0]?.check).toEqual({
      ...{ result: 'drifted', checked_at: '2026-01-31T09:00:00.000Z', drifted_since: '2026-01-31T08:00:00.000Z' },
      ...{ message: 'app.conf differs', is_pending: false, next_at: null },
    })
  })

  test('filter by drift', async () => {
    expect((await list('state=drifted')).map(line)).toEqual(['one drifted drifted', 'shared drifted drifted'])
    expect((await list('state=applied')).map(line)).toEqual(['three applied -', 'two applied in_sync'])
    const { body } = await admin.send('listTargetReleases', `/targets/${id('one')}/releases?state=drifted`)
    expect(body.data).toMatchObject([
      { deployment_id: id('deployment'), state: 'drifted', check: { result: 'drifted' } },
    ])
    const of = await admin.send('listTargetReleases', `/targets/${id('one')}/releases?state=applied`)
    expect(of.body.data).toEqual([])
  })

  test('count drift in the matrix', async () => {
    const { body } = await admin.send('getReleaseMatrix', '/releases/matrix')
    const cells = body.data.flatMap(({ cells }: { cells: { tenant_id: string | null; drifted: number }[] }) => cells)
    expect(cells.map(({ tenant_id, drifted }: { tenant_id: string; drifted: number }) => [tenant_id, drifted])).toEqual(
      [
        [null, 1],
        [b.id, 1],
      ],
    )
  })

  test('do not show the checks of another tenant on a shared target', async () => {
    expect((await list('', a.admin)).map(line)).toEqual(['shared failed -'])
    expect((await list('', b.admin)).map(line)).toEqual(['shared drifted drifted'])
    expect(JSON.stringify(await list('', a.admin))).not.toContain('app.conf')
  })

  test('show a running attempt instead of the drift', async () => {
    const running = await deploy(['one'], null, 'running')
    expect((await list(`target_id=${id('one')}`)).map(line)).toEqual(['one running drifted'])
    await gateway.database.query(`UPDATE steps SET state = 'failed', completed_at = now() WHERE deployment_id = $1`, [
      running,
    ])
    await gateway.database.transaction((tx) => deriveParts(tx, [running]))
    expect((await list(`target_id=${id('one')}`)).map(line)).toEqual(['one drifted drifted'])
  })
})

describe('POST /releases/check', () => {
  const check = (body: object, client = admin) => client.send('checkReleases', '/releases/check', body)

  test('requests checks of a source', async () => {
    const { status, body } = await check({ action_id: sqids['web'] })
    expect([status, body]).toEqual([202, { requested_at: expect.any(String), total: 3, unchecked: 1 }])
    expect(sent.map(({ type, body }) => [type, body])).toEqual([
      ['release.check', { caller: expect.anything(), source_id: id('web'), target_ids: null }],
    ])
  })

  test('requests checks of targets, by id or SqId', async () => {
    const { body } = await check({ target_ids: [id('one'), sqids['three'], id('idle')] })
    expect(body).toMatchObject({ total: 1, unchecked: 1 })
    expect(sent.map(({ body }) => body)).toMatchObject([
      { source_id: null, target_ids: [id('one'), id('three'), id('idle')] },
    ])
  })

  test('counts only releases that the caller sees', async () => {
    expect((await check({ target_ids: [id('shared')] }, a.admin)).body).toMatchObject({ total: 0, unchecked: 0 })
    expect((await check({ target_ids: [id('shared')] }, b.admin)).body).toMatchObject({ total: 1, unchecked: 0 })
    expect(sent.map(({ body }) => body)).toMatchObject([
      { caller: { tenant_id: a.id } },
      { caller: { tenant_id: b.id } },
    ])
  })

  test.each([
    ['neither source nor targets', () => ({}), refused(400, 'VALIDATION_ERROR', expect.anything())],
    ['no targets', () => ({ target_ids: [] }), refused(400, 'VALIDATION_ERROR', expect.anything())],
    [
      'two sources',
      () => ({ action_id: id('web'), sequence_id: UNKNOWN_ID }),
      refused(400, 'VALIDATION_ERROR', { errors: [expect.objectContaining({ path: '/action_id' })] }),
    ],
    ['an unknown source', () => ({ sequence_id: UNKNOWN_ID }), refused(404, 'NOT_FOUND', expect.anything())],
    ['an unknown target', () => ({ target_ids: [UNKNOWN_ID] }), refused(404, 'NOT_FOUND', expect.anything())],
  ])('refuses %s', async (_, body, refusalOf) => {
    expect(refusal(await check(body()))).toEqual(refusalOf)
    expect(sent).toEqual([])
  })
})

describe('the check of an action', () => {
  const publish = (check: object) =>
    admin.send('createAction', '/actions', {
      name: `action-${Math.random()}`,
      version: '1.0.0',
      definition: { type: 'script', script: 'true', interpreter: 'python3', check },
    })

  test.each([
    ['an interval of less than a minute', { script: 'true', interval_seconds: 59 }],
    ['no script', { interval_seconds: 60 }],
    ['an unknown field', { script: 'true', every: 60 }],
    ['a script that names another interpreter', { script: '#!/bin/bash\ntrue', interpreter: 'sh' }],
  ])('is refused with %s', async (_, check) => {
    expect(refusal(await publish(check))).toEqual(refused(400, 'VALIDATION_ERROR', expect.anything()))
  })

  test('is returned as it was published', async () => {
    const check = { script: 'import sys; sys.exit(1)', timeout_seconds: 5, interval_seconds: 60 }
    const { status, body } = await publish(check)
    expect(status).toBe(201)
    const { body: version } = await admin.send('getActionVersion', `/actions/${body.id}/versions/1.0.0`)
    expect(version.definition.check).toEqual(check)
  })
})
