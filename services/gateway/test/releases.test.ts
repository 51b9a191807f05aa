import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { MASK } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import { addDeployment, type DeploymentParts, execute } from './deployment-rows.ts'
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
let a: { id: string; admin: Client }
let b: { id: string; admin: Client }
/** Ids by name. `edge-1` is in production, `edge-2` in staging; `bare` and `common` are in no environment. */
const ids: Record<string, string> = {}
const sqids: Record<string, string> = {}

const id = (name: string) => ids[name] ?? ''
const idsOf = (...names: string[]) => names.map(id)

async function create(op: 'createAction' | 'createTarget' | 'createEnvironment', path: string, body: { name: string }) {
  const created = (await admin.send(op, path, body)).body
  ids[body.name] = created.id
  sqids[body.name] = created.sqid
}

interface Deployed extends DeploymentParts {
  name: string
  version: string
  on: string[]
  outcome?: 'running' | 'completed' | 'failed'
}

/** Deploys a version of a source to targets and stores the id of the deployment as `SOURCE VERSION`. */
async function deploy({ name, version, on, outcome = 'completed', ...more }: Deployed) {
  const source = { source_id: id(name), source_name: name, source_version: version }
  const deployment = await addDeployment(gateway.database, { ...source, target_ids: idsOf(...on), ...more })
  ids[`${name} ${version}`] = deployment
  await execute(gateway.database, deployment, outcome)
}

beforeAll(async () => {
  gateway = await startGateway()
  admin = clientOf(gateway, gateway.adminToken)
  a = await addTenant(gateway, 'A')
  b = await addTenant(gateway, 'B')
  const definition = { type: 'script', script: 'true' }
  for (const name of ['api', 'web'])
    await create('createAction', '/actions', { name, ...{ version: '1.0.0', definition } })
  for (const name of ['production', 'staging']) await create('createEnvironment', '/environments', { name })
  const target = (name: string, more: object) =>
    create('createTarget', '/targets', { name, ...{ connection: { type: 'simulated' }, ...more } })
  await target('edge-1', { environment_id: id('production'), tags: [{ key: 'role', value: 'edge' }] })
  await target('edge-2', { environment_id: id('staging'), tags: [{ key: 'role', value: 'old' }] })
  await target('bare', {})
  await target('common', {})
  // A source that is not in the catalog, for example because it was deleted.
  ids['shop'] = uuidv7()

  await deploy({ name: 'web', version: '1.0.0', on: ['edge-1', 'edge-2', 'bare'], environment_id: id('staging') })
  await deploy({ name: 'web', version: '1.1.0', on: ['edge-1'], triggered_by: 'bob', values_hash: 'h1' })
  await deploy({ name: 'web', version: '1.2.0', on: ['edge-2'], outcome: 'failed', triggered_by: 'eve' })
  await deploy({ name: 'api', version: '2.0.0', on: ['edge-1'], outcome: 'running' })
  await deploy({ name: 'shop', version: '7.0.0', on: ['bare'], source_type: 'solution' })
  await deploy({ name: 'web', version: '3.0.0', on: ['common'], tenant_id: a.id })
  await deploy({ name: 'web', version: '4.0.0', on: ['common'], tenant_id: b.id, outcome: 'failed' })
})
afterAll(() => gateway.close())

interface Row {
  source_name: string
  target_name: string
  version: string | null
  state: string
  environment_name: string | null
  tenant_name: string | null
  last_attempt: { version: string } | null
}

async function list(query = '', client = admin) {
  const { status, body } = await client.send('listReleases', `/releases?${query}`)
  expect(status).toBe(200)
  return body as { data: Row[]; meta: { total: number } }
}
const line = ({ source_name, target_name, version, state }: Row) => `${source_name} ${target_name} ${version} ${state}`
const lines = async (query = '', client = admin) => (await list(query, client)).data.map(line)
const rowOf = async (source: string, target: string, client = admin) =>
  (await list('', client)).data.find((row) => row.source_name === source && row.target_name === target)

const ALL = [
  'api edge-1 null running',
  'shop bare 7.0.0 applied',
  'web bare 1.0.0 applied',
  'web common 3.0.0 failed',
  'web edge-1 1.1.0 applied',
  'web edge-2 1.0.0 failed',
]

describe('GET /releases', () => {
  test('lists the releases in force by source and target', async () => {
    expect(await lines()).toEqual(ALL)
  })

  test('the pages together are the whole list', async () => {
    const pages = await Promise.all([1, 2, 3, 4, 9].map((page) => list(`limit=2&page=${page}`)))
    expect(pages.flatMap(({ data }) => data.map(line))).toEqual(ALL)
    expect(pages.map(({ meta }) => meta.total)).toEqual([6, 6, 6, 6, 6])
  })

  const FILTERS: [string, () => string, string[]][] = [
    ['source type', () => 'source_type=solution', ['shop bare 7.0.0 applied']],
    ['action', () => `action_id=${id('api')}`, ['api edge-1 null running']],
    ['action by SqId', () => `action_id=${sqids['api']}`, ['api edge-1 null running']],
    ['solution', () => `solution_id=${id('shop')}`, ['shop bare 7.0.0 applied']],
    ['solution with the id of an action', () => `solution_id=${id('web')}`, []],
    ['version in force', () => 'version=1.0.0', ['web bare 1.0.0 applied', 'web edge-2 1.0.0 failed']],
    ['version of a failed attempt', () => 'version=1.2.0', []],
    ['target', () => `target_id=${id('edge-1')}`, ['api edge-1 null running', 'web edge-1 1.1.0 applied']],
    ['target by SqId', () => `target_id=${sqids['edge-2']}`, ['web edge-2 1.0.0 failed']],
    ['tag', () => 'tag=role=edge', ['api edge-1 null running', 'web edge-1 1.1.0 applied']],
    ['tag with any value', () => 'tag=role&state=failed', ['web edge-2 1.0.0 failed']],
    ['state', () => 'state=failed', ['web common 3.0.0 failed', 'web edge-2 1.0.0 failed']],
    ['tenant', () => `tenant_id=${a.id}`, ['web common 3.0.0 failed']],
    [
      'environment of the target, or else of the deployment',
      () => `environment_id=${id('staging')}`,
      ['web bare 1.0.0 applied', 'web edge-2 1.0.0 failed'],
    ],
    [
      'environment by SqId',
      () => `environment_id=${sqids['production']}&source_type=action&version=1.1.0`,
      ['web edge-1 1.1.0 applied'],
    ],
    ['search by source', () => 'search=SHO', ['shop bare 7.0.0 applied']],
    ['search by target', () => 'search=edge-2', ['web edge-2 1.0.0 failed']],
    ['search is literal', () => 'search=%25', []],
    ['several filters', () => `action_id=${id('web')}&state=applied&tag=role`, ['web edge-1 1.1.0 applied']],
  ]
  test.each(FILTERS)('filters by %s', async (_, query, expected) => {
    expect(await lines(query())).toEqual(expected)
    expect((await list(`${query()}&limit=1`)).meta.total).toBe(expected.length)
  })

  test('refuses more than one source', async () => {
    const two = `action_id=${id('web')}&solution_id=${id('shop')}`
    for (const path of [`/releases?${two}`, `/targets/${id('bare')}/releases?${two}`, `/deployments?${two}`] as const) {
      const op = path.startsWith('/r')
        ? 'listReleases'
        : path.startsWith('/t')
          ? 'listTargetReleases'
          : 'listDeployments'
      expect((await admin.send(op, path)).body.error).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: { errors: [{ path: 'query/action_id' }] },
      })
    }
  })

  test('has the release in force, and no last attempt if the last attempt is in force', async () => {
    expect(await rowOf('web', 'edge-1')).toMatchObject({
      deployment_id: id('web 1.1.0'),
      applied_by: 'bob',
      values_hash: 'h1',
      applied_at: expect.any(String),
      environment_name: 'production',
      tenant_name: null,
      last_attempt: null,
    })
  })

  test('has the last attempt if it is not in force', async () => {
    expect(await rowOf('web', 'edge-2')).toMatchObject({
      deployment_id: id('web 1.0.0'),
      applied_by: 'admin',
      last_attempt: { deployment_id: id('web 1.2.0'), version: '1.2.0', state: 'failed', triggered_by: 'eve' },
    })
    expect(await rowOf('api', 'edge-1')).toMatchObject({
      ...{ deployment_id: null, applied_at: null, applied_by: null, values_hash: null },
      last_attempt: { deployment_id: id('api 2.0.0'), state: 'running', ended_at: null },
    })
  })

  test('shows the environment of the target, else of the deployment, else none', async () => {
    const { data } = await list()
    expect(
      data.map(({ source_name, target_name, environment_name }) => [source_name, target_name, environment_name]),
    ).toEqual([
      ['api', 'edge-1', 'production'],
      ['shop', 'bare', null],
      ['web', 'bare', 'staging'],
      ['web', 'common', null],
      ['web', 'edge-1', 'production'],
      ['web', 'edge-2', 'staging'],
    ])
  })

  test('leaves out deleted targets', async () => {
    await create('createTarget', '/targets', { name: 'gone', ...{ connection: { type: 'simulated' } } })
    await deploy({ name: 'web', version: '1.0.1', on: ['gone'] })
    expect((await list()).meta.total).toBe(7)
    await gateway.database.query('DELETE FROM targets WHERE id = $1', [id('gone')])
    expect(await lines()).toEqual(ALL)
  })
})

describe('releases on a shared target', () => {
  test('each tenant sees the releases of its own deployments', async () => {
    expect(await lines('', a.admin)).toEqual(['web common 3.0.0 applied'])
    expect((await list('', a.admin)).data[0]?.last_attempt).toBeNull()
    expect(await lines('', b.admin)).toEqual(['web common null failed'])
    expect((await list('', b.admin)).data[0]?.last_attempt?.version).toBe('4.0.0')
    expect(await lines(`tenant_id=${a.id}`, b.admin)).toEqual([])
  })

  test('each tenant has its own matrix', async () => {
    const rows = async (client: Client) => (await client.send('getReleaseMatrix', '/releases/matrix')).body.data
    expect(await rows(a.admin)).toMatchObject([
      { cells: [{ tenant_name: 'A', versions: [{ version: '3.0.0' }], target_count: 1, running: 0, failed: 0 }] },
    ])
    expect(await rows(b.admin)).toMatchObject([
      { cells: [{ tenant_name: 'B', versions: [], target_count: 1, running: 0, failed: 1 }] },
    ])
  })

  test('each tenant has its own history', async () => {
    const history = async (client: Client) =>
      (await client.send('listTargetReleases', `/targets/${id('common')}/releases`)).body
    expect(await history(a.admin)).toMatchObject({ data: [{ version: '3.0.0', is_current: true }], meta: { total: 1 } })
    expect(await history(b.admin)).toMatchObject({
      data: [{ version: '4.0.0', is_current: false, replaced_deployment_id: null }],
      meta: { total: 1 },
    })
    expect((await history(admin)).data[0].replaced_deployment_id).toBe(id('web 3.0.0'))
  })

  test('a tenant does not see that it replaced a deployment of another tenant', async () => {
    const changes = async (client: Client) =>
      (await client.send('getDeploymentChanges', `/deployments/${id('web 4.0.0')}/changes`)).body
    expect((await changes(b.admin)).replaces).toEqual([
      {
        ...{ deployment_id: null, version: null, applied_at: null, applied_by: null, difference: null },
        ...{ target_count: 1, unchanged_count: 0, targets: [{ id: id('common'), name: 'target-0' }] },
      },
    ])
    expect((await changes(admin)).replaces).toMatchObject([{ deployment_id: id('web 3.0.0') }])
    const other = await a.admin.send('getDeploymentChanges', `/deployments/${id('web 4.0.0')}/changes`)
    expect(refusal(other)).toEqual(refused(404, 'NOT_FOUND'))
  })
})

describe('GET /releases/rollback', () => {
  interface Group {
    deployment_id: string | null
    version: string | null
    targets: { name: string }[]
  }
  const rollback = async (query: string, client = admin) =>
    (await client.send('getRollback', `/releases/rollback?${query}`)).body as { groups: Group[]; running: object[] }
  const groupsOf = async (query: string, client = admin) =>
    (await rollback(query, client)).groups.map(({ version, targets }) => [version, targets.map(({ name }) => name)])

  test('groups the targets by the release before; after a failure this is the release in force', async () => {
    expect(await groupsOf(`action_id=${id('web')}`)).toEqual([
      ['1.0.0', ['edge-1', 'edge-2']],
      [null, ['bare']],
      ['3.0.0', ['common']],
    ])
    const { groups } = await rollback(`action_id=${id('web')}&target_ids=${id('edge-1')}`)
    expect(groups).toMatchObject([{ deployment_id: id('web 1.0.0'), targets: [{ id: id('edge-1') }] }])
  })

  test('filters by place and by deployment', async () => {
    expect(await groupsOf(`action_id=${id('web')}&environment_id=${id('production')}`)).toEqual([['1.0.0', ['edge-1']]])
    expect(await groupsOf(`action_id=${id('web')}&tag=role=old`)).toEqual([['1.0.0', ['edge-2']]])
    expect(await groupsOf(`action_id=${id('web')}&deployment_id=${id('web 1.2.0')}`)).toEqual([['1.0.0', ['edge-2']]])
    expect(await groupsOf(`action_id=${id('nothing')}${UNKNOWN_ID}`)).toEqual([])
  })

  test('names what runs there', async () => {
    expect((await rollback(`action_id=${id('api')}`)).running).toEqual([
      { deployment_id: id('api 2.0.0'), target_id: id('edge-1'), target_name: 'edge-1' },
    ])
  })

  test('shows a tenant its own releases only', async () => {
    expect(await groupsOf(`action_id=${id('web')}`, a.admin)).toEqual([[null, ['common']]])
  })

  test('needs a source', async () => {
    expect(refusal(await admin.send('getRollback', '/releases/rollback'))).toMatchObject(
      refused(400, 'VALIDATION_ERROR'),
    )
  })
})

describe('GET /releases/matrix', () => {
  const matrix = async (query = '') => (await admin.send('getReleaseMatrix', `/releases/matrix?${query}`)).body

  test('has a row for each source with its cells in order', async () => {
    const { data, meta } = await matrix()
    expect(meta.total).toBe(3)
    expect(data).toMatchObject([
      {
        source_name: 'api',
        cells: [{ environment_name: 'production', versions: [], target_count: 1, running: 1, failed: 0 }],
      },
      { source_name: 'shop', source_type: 'solution', cells: [{ environment_name: null, tenant_name: null }] },
      {
        source_name: 'web',
        cells: [
          { environment_name: null, tenant_name: 'A', target_count: 1, running: 0, failed: 1 },
          { environment_name: 'production', tenant_name: null, target_count: 1, running: 0, failed: 0 },
          { environment_name: 'staging', tenant_name: null, target_count: 2, running: 0, failed: 1 },
        ],
      },
    ])
    expect(data[2].cells[2].versions).toMatchObject([
      { version: '1.0.0', target_count: 2, applied_by: 'admin', deployment_id: id('web 1.0.0') },
    ])
  })

  test('does not count a cancelled attempt as failed', async () => {
    const setStates = (from: string, to: string) =>
      gateway.database.query("UPDATE releases SET state = $2 WHERE state = $1 AND source_name = 'web'", [from, to])
    const failures = async (): Promise<number[]> =>
      (await matrix('search=web')).data[0].cells.map(({ failed }: { failed: number }) => failed)
    expect(await failures()).toEqual([1, 0, 1])
    await setStates('failed', 'cancelled')
    expect(await failures()).toEqual([0, 0, 0])
    await setStates('cancelled', 'failed')
  })

  test('has the cells in the order of the environments', async () => {
    const places = async () => {
      const [row] = (await matrix('search=web')).data
      return row.cells.map((cell: { environment_name: string; environment_position: number | null }) => [
        cell.environment_name,
        cell.environment_position,
      ])
    }
    await admin.send('updateEnvironment', `/environments/${id('staging')}`, { position: 10 })
    expect(await places()).toEqual([
      [null, null],
      ['staging', 10],
      ['production', null],
    ])
    await admin.send('updateEnvironment', `/environments/${id('staging')}`, { position: null })
  })

  test('lists versions by precedence, each with its last deployment', async () => {
    const names = ['m-1', 'm-2', 'm-3', 'm-4', 'm-5']
    for (const name of names)
      await create('createTarget', '/targets', { name, ...{ connection: { type: 'simulated' } } })
    ids['many'] = uuidv7()
    const versions = ['1.9.0', '1.10.0', '1.10.0-rc.1', '1.10.0', '1.9.0'] as const
    for (const [index, version] of versions.entries()) {
      await deploy({ name: 'many', version, on: [`m-${index + 1}`], triggered_by: `user ${index}` })
    }
    const [row] = (await matrix('search=many')).data
    expect(row.cells[0].versions).toMatchObject([
      { version: '1.10.0', target_count: 2, applied_by: 'user 3' },
      { version: '1.10.0-rc.1', target_count: 1, applied_by: 'user 2' },
      { version: '1.9.0', target_count: 2, applied_by: 'user 4', deployment_id: id('many 1.9.0') },
    ])
    await gateway.database.query('DELETE FROM targets WHERE id = ANY ($1)', [idsOf(...names)])
  })

  test('counts the variants of a version, which differ in the versions of its parts', async () => {
    const names = ['v-1', 'v-2', 'v-3', 'v-4']
    for (const name of names)
      await create('createTarget', '/targets', { name, ...{ connection: { type: 'simulated' } } })
    ids['suite'] = uuidv7()
    const parts = [
      ['1.0.0', '1.0.0'],
      ['1.0.0', '1.1.0'],
      ['1.0.0', '1.1.0'],
      ['2.0.0', '1.0.0'],
    ] as const
    for (const [index, [version, action_version]] of parts.entries()) {
      await deploy({ name: 'suite', version, source_type: 'solution', action_version, on: [`v-${index + 1}`] })
    }
    const [row] = (await matrix('search=suite')).data
    expect(row.cells[0].versions).toMatchObject([
      { version: '2.0.0', variants: 1 },
      { version: '1.0.0', variants: 2 },
    ])
    const { data } = await list(`solution_id=${id('suite')}`)
    expect(data).toMatchObject([{ variants: 2 }, { variants: 2 }, { variants: 2 }, { variants: 1 }])
    const variants = data.map((one) => (one as Row & { variant: string }).variant)
    expect(variants[1]).toBe(variants[2])
    expect(new Set(variants).size).toBe(3)
    expect((await list(`target_id=${id('v-1')}`)).data).toMatchObject([{ variants: 1, variant: variants[0] }])
    const history = await admin.send('listTargetReleases', `/targets/${id('v-1')}/releases`)
    expect(history.body.data).toMatchObject([{ variant: variants[0] }])
    expect((await list(`action_id=${id('web')}&target_id=${id('edge-1')}`)).data).toMatchObject([
      { variants: 1, variant: null },
    ])
    await gateway.database.query('DELETE FROM targets WHERE id = ANY ($1)', [idsOf(...names)])
  })

  test('pages and filters sources', async () => {
    const names = async (query: string) => {
      const { data, meta } = await matrix(query)
      return [meta.total, data.map(({ source_name }: Row) => source_name)]
    }
    expect(await names('limit=2&page=2')).toEqual([3, ['web']])
    expect(await names('limit=2&page=3')).toEqual([3, []])
    expect(await names('source_type=solution')).toEqual([1, ['shop']])
    expect(await names(`environment_id=${id('production')}`)).toEqual([2, ['api', 'web']])
    expect(await names(`tenant_id=${a.id}`)).toEqual([1, ['web']])
    expect(await names('search=WE')).toEqual([1, ['web']])
    // The search ignores names of targets. Otherwise the counts would leave out the other targets.
    expect(await names('search=edge-2')).toEqual([0, []])
    expect((await matrix(`environment_id=${id('production')}&search=web`)).data[0].cells.length).toBe(1)
  })
})

describe('GET /targets/{id}/releases', () => {
  const history = async (query = '', target = id('edge-1')) => {
    const { data, meta } = (await admin.send('listTargetReleases', `/targets/${target}/releases?${query}`)).body
    return [
      meta.total,
      data.map((row: Row & { is_current: boolean }) => `${row.source_name} ${row.version} ${row.is_current}`),
    ]
  }
  const web = ['web 1.1.0 true', 'web 1.0.0 false']

  test('lists the newest first', async () => {
    expect(await history()).toEqual([3, ['api 2.0.0 false', ...web]])
    expect(await history('', sqids['edge-1'])).toEqual(await history())
    expect(await history('limit=1&page=2')).toEqual([3, ['web 1.1.0 true']])
    expect(await history('limit=1&page=9')).toEqual([3, []])
  })

  test('filters by source, state, current and search', async () => {
    expect(await history(`action_id=${sqids['web']}`)).toEqual([2, web])
    expect(await history('state=running')).toEqual([1, ['api 2.0.0 false']])
    expect(await history('current=true')).toEqual([1, ['web 1.1.0 true']])
    expect(await history('current=false')).toEqual([2, ['api 2.0.0 false', 'web 1.0.0 false']])
    expect(await history('search=WE')).toEqual([2, web])
    expect(await history(`solution_id=${id('web')}`)).toEqual([0, []])
  })

  test('shows what a release replaced', async () => {
    const { data } = (await admin.send('listTargetReleases', `/targets/${id('edge-1')}/releases?search=web`)).body
    expect(data.map((row: { replaced_deployment_id: string }) => row.replaced_deployment_id)).toEqual([
      id('web 1.0.0'),
      null,
    ])
  })

  test('a deployment in the list tells its targets, and the versions that it replaced on them', async () => {
    await gateway.database.query(`UPDATE deployments SET api_key_name = 'ci' WHERE id = $1`, [id('web 1.1.0')])
    const { data } = (await admin.send('listDeployments', '/deployments?search=web&limit=100')).body
    const shown = (name: string) => data.find((one: { id: string }) => one.id === id(name))
    expect(shown('web 1.1.0')).toMatchObject({ previous_versions: ['1.0.0'], api_key_name: 'ci', target_count: 1 })
    expect(shown('web 1.0.0')).toMatchObject({ previous_versions: [], api_key_name: null })
  })

  test('shows which release another one brings back', async () => {
    await create('createTarget', '/targets', { name: 'returns', ...{ connection: { type: 'simulated' } } })
    ids['shuttle'] = uuidv7()
    const fly = (version: string, more: Partial<Deployed> = {}) =>
      deploy({ name: 'shuttle', version, on: ['returns'], ...more })
    await fly('1.0.0')
    await fly('2.0.0')
    const source_deployment_id = id('shuttle 1.0.0')
    const sealed = { $sealed: 'v1.k1.other' }
    await fly('1.0.0-same', { source_deployment_id, override_variables: { token: sealed, level: 3 } })
    await fly('1.0.0-other-value', { source_deployment_id, override_variables: { token: sealed, level: 4 } })
    await fly('1.0.0-more-values', { source_deployment_id, override_variables: { token: sealed, level: 3, a: 1 } })
    await fly('1.0.0-elsewhere', { source_deployment_id, environment_id: id('staging') })
    await fly('3.0.0', { outcome: 'failed' })
    await fly('3.0.0-again', { source_deployment_id: id('shuttle 3.0.0') })
    const { data } = (await admin.send('listTargetReleases', `/targets/${id('returns')}/releases`)).body
    const repeating = data.filter((row: { repeats_deployment_id: string | null }) => row.repeats_deployment_id !== null)
    expect(repeating).toMatchObject([{ version: '1.0.0-same', repeats_deployment_id: source_deployment_id }])
    await gateway.database.query('DELETE FROM targets WHERE id = $1', [id('returns')])
  })

  test('is 404 for an unknown target or a target of another tenant', async () => {
    const unknown = await admin.send('listTargetReleases', `/targets/${UNKNOWN_ID}/releases`)
    expect(refusal(unknown)).toEqual(refused(404, 'NOT_FOUND'))
    const path = '/targets'
    const own = { name: 'of b', connection: { type: 'simulated' } }
    const ofB = (await b.admin.send('createTarget', path, own)).body.id
    expect((await a.admin.send('listTargetReleases', `/targets/${ofB}/releases`)).status).toBe(404)
    expect((await b.admin.send('listTargetReleases', `/targets/${ofB}/releases`)).status).toBe(200)
  })
})

describe('GET /deployments/{id}/changes', () => {
  const changes = async (name: string) =>
    (await admin.send('getDeploymentChanges', `/deployments/${id(name)}/changes`)).body.replaces

  test('groups targets by the replaced release', async () => {
    const on = ['edge-1', 'edge-2', 'bare', 'common']
    await deploy({ name: 'web', version: '5.0.0', on, outcome: 'failed', values_hash: 'h1' })
    const groups = await changes('web 5.0.0')
    expect(groups).toMatchObject([
      { deployment_id: id('web 1.0.0'), version: '1.0.0', target_count: 2, unchanged_count: 0, applied_by: 'admin' },
      { deployment_id: expect.any(String), target_count: 1 },
      { deployment_id: expect.any(String), target_count: 1 },
    ])
    expect(groups[0].targets.map((target: { id: string }) => target.id)).toEqual(idsOf('edge-2', 'bare'))
    expect(groups.find((group: Row) => group.version === '1.1.0')).toMatchObject({
      unchanged_count: 1,
      applied_by: 'bob',
      difference: { versions: [{ kind: 'action', id: id('web'), before: '1.1.0', after: '5.0.0' }], variables: [] },
    })
  })

  test('compares versions and variables, with masked secrets', async () => {
    ids['differing'] = uuidv7()
    const source = { source_id: id('differing'), on: ['edge-1'] }
    const secret = (text: string) => ({ $sealed: text })
    const before = { level: 3, same: [1], token: secret('v1.k1.one') }
    await deploy({ name: 'differing', version: '1.0.0', ...source, override_variables: before })
    const after = { level: 4, same: [1], token: secret('v1.k1.two'), added: true }
    await deploy({ name: 'differing', version: '1.1.0', ...source, override_variables: after, outcome: 'running' })
    const removed = { same: [1], token: secret('v1.k1.two') }
    const [group] = await changes('differing 1.1.0')
    expect(group.difference).toEqual({
      versions: [{ kind: 'action', id: id('differing'), name: 'differing', before: '1.0.0', after: '1.1.0' }],
      variables: [
        { name: 'added', after: true },
        { name: 'level', before: 3, after: 4 },
      ],
    })
    await deploy({ name: 'differing', version: '1.2.0', ...source, override_variables: removed, outcome: 'running' })
    const [next] = await changes('differing 1.2.0')
    expect(next.difference.variables).toEqual([{ name: 'level', before: 3 }])
    // An added sensitive variable is masked.
    await deploy({ name: 'differing', version: '1.3.0', ...source, override_variables: { same: [1] } })
    await deploy({ name: 'differing', version: '1.4.0', ...source, override_variables: removed, outcome: 'running' })
    const [secretAdded] = await changes('differing 1.4.0')
    expect(secretAdded.difference.variables).toEqual([{ name: 'token', after: MASK }])
  })

  test('shows the release in force if the deployment has not begun', async () => {
    ids['later'] = uuidv7()
    await deploy({ name: 'later', version: '1.0.0', on: ['edge-1'] })
    const waiting = { source_id: id('later'), source_version: '2.0.0', target_ids: idsOf('edge-1', 'bare') }
    ids['waiting'] = await addDeployment(gateway.database, waiting)
    expect(await changes('waiting')).toMatchObject([
      { deployment_id: id('later 1.0.0'), version: '1.0.0', targets: [{ id: id('edge-1') }] },
      { deployment_id: null, version: null, difference: null, targets: [{ id: id('bare') }] },
    ])
    await deploy({ name: 'later', version: '1.5.0', on: ['edge-1'] })
    expect((await changes('waiting'))[0]).toMatchObject({ deployment_id: id('later 1.5.0') })
  })

  test('has no difference to a deployment that retention deleted', async () => {
    await gateway.database.query('DELETE FROM deployments WHERE id = $1', [id('later 1.0.0')])
    expect(await changes('later 1.5.0')).toMatchObject([
      { deployment_id: id('later 1.0.0'), version: '1.0.0', target_count: 1, difference: null },
    ])
  })

  test('compares the twenty largest groups', async () => {
    ids['wide'] = uuidv7()
    const targets = Array.from({ length: 22 }, () => uuidv7())
    const source = { source_id: id('wide'), source_type: 'action' } as const
    for (const target of targets) {
      const one = await addDeployment(gateway.database, { ...source, target_ids: [target] })
      await execute(gateway.database, one, 'completed')
    }
    ids['wide all'] = await addDeployment(gateway.database, { ...source, target_ids: targets })
    const groups = await changes('wide all')
    expect(groups.length).toBe(22)
    expect(groups.map((group: { difference: unknown }) => group.difference !== null)).toEqual([
      ...Array.from({ length: 20 }, () => true),
      ...[false, false],
    ])
  })

  test('lists the first hundred targets of a group', async () => {
    const target_ids = Array.from({ length: 130 }, () => uuidv7())
    ids['fresh'] = await addDeployment(gateway.database, { target_ids, actions: 1 })
    const [group] = await changes('fresh')
    expect([group.target_count, group.targets.length]).toEqual([130, 100])
    expect(group.targets[99]).toEqual({ id: target_ids[99], name: 'target-99' })
  })

  test('is 404 for unknown deployments', async () => {
    for (const unknown of [UNKNOWN_ID, 'nonsense']) {
      const response = await admin.send('getDeploymentChanges', `/deployments/${unknown}/changes`)
      expect(refusal(response)).toEqual(refused(404, 'NOT_FOUND'))
    }
  })
})
