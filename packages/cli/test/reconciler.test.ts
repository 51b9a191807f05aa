// Plans of `apply`: the records that it creates, changes, takes over and deletes on a server.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { SlipwayClient } from '@slipway/client'
import { nameKey } from '@slipway/contracts'
import { sendJson, startFakeServer } from '@slipway/testing'
import { Reconciler, type ReconcilerOptions } from '../src/files/changes.ts'
import { InvalidFilesError } from '../src/files/document.ts'
import { loadFileSet } from '../src/files/load.ts'
import { listTakeOvers } from '../src/files/take-over.ts'
import { runSlipway } from './slipway.ts'

type Stored = Record<string, unknown> & { id: string; name: string }
const LISTS = ['tenants', 'environments', 'actions', 'sequences', 'solutions', 'targets', 'deployment-freezes']
let stored: Record<string, Stored[]>
let deleted: string[]
let folder: string
let server: Awaited<ReturnType<typeof startFakeServer>>
const routes: Parameters<typeof startFakeServer>[0] = {}

beforeAll(async () => {
  server = await startFakeServer(routes)
  for (const list of LISTS) {
    routes[`GET /${list}`] = (request, response) => {
      const query = new URL(request.url ?? '', server.url).searchParams
      const [search, manager] = [query.get('search'), query.get('managed_by')]
      const data = (stored[list] ?? []).filter(
        ({ name, managed_by }) =>
          (search === null || nameKey(name).includes(nameKey(search))) && (manager === null || managed_by === manager),
      )
      const meta = { total: data.length, page: 1, limit: 100, total_pages: 1, has_next: false, has_prev: false }
      sendJson(response, 200, { data, meta })
    }
  }
})
afterAll(() => server.close())
beforeEach(() => {
  stored = {}
  deleted = []
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'reconciler-'))
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

const target = (name: string, managed_by: string | null, more: object = {}): Stored => ({
  id: `id of ${name}`,
  name,
  managed_by,
  tenant_id: null,
  environment_id: null,
  description: null,
  tags: [],
  connection: { type: 'simulated' },
  variables: {},
  sensitive_variables: [],
  instance_selector: null,
  enabled: true,
  concurrency: null,
  ...more,
})
const wanted = (name: string, more = '') => `kind: target\nname: ${name}\nconnection: { type: simulated }\n${more}`

function createReconciler(documents: string[], options: Partial<ReconcilerOptions> = {}): Reconciler {
  fs.writeFileSync(path.join(folder, 'all.yaml'), documents.join('---\n'))
  const client = new SlipwayClient({ url: server.url, token: 'token' })
  const fileSet = loadFileSet([folder], { env: {} })
  if (fileSet.problems.length > 0) throw new InvalidFilesError(fileSet.problems)
  return new Reconciler(client, fileSet, { manager: 'shop', ...options })
}

test('the warnings of a published version name the place in the file', async () => {
  const warnings = ['script, line 2, column 5: awk evaluates {{ x }}']
  routes['POST /actions'] = (_request, response) => sendJson(response, 201, { id: 'new', name: 'greet', warnings })
  const document = 'kind: action\nname: greet\nversion: 1.0.0\ndefinition: { type: script, script: "true" }\n'
  const reconciler = createReconciler([wanted('web'), document])
  const [create] = (await reconciler.plan()).changes
  if (create === undefined) throw new Error('no change')
  expect(create.entry.name).toBe('greet')
  expect(await reconciler.apply(create)).toEqual([`${path.join(folder, 'all.yaml')}:8:1: ${warnings[0]}`])
})

/** Plans files without a problem, else throws. */
async function plan(documents: string[], options: Partial<ReconcilerOptions> = {}) {
  const reconciler = createReconciler(documents, options)
  const { changes, problems } = await reconciler.plan()
  if (problems.length > 0) throw new InvalidFilesError(problems)
  return {
    changes: changes.map(({ what, entry, differences }) => [what, entry.name, differences.map((one) => one.path)]),
    takeOvers: listTakeOvers(changes).map(({ entry, from }) => [entry.name, from]),
  }
}

test('a changed record of the same manager is no takeover', async () => {
  stored = { targets: [target('web', 'shop')] }
  expect(await plan([wanted('web', 'description: new\n')])).toEqual({
    changes: [['change', 'web', ['description']]],
    takeOvers: [],
  })
})

test('a record that the server has in another spelling is no new record, and other files may refer to it', async () => {
  stored = { targets: [target('caf\u00e9', 'shop')], environments: [{ id: 'E', name: 'Production', tenant_id: null }] }
  for (const name of ['CAF\u00c9', 'cafe\u0301', 'caf\u00e9\u200b']) {
    await expect(plan([wanted(`"${name}"`)])).rejects.toMatchObject({
      problems: [expect.stringMatching(/:2:.*the server has the target "café" \(id of café\).*same name/)],
    })
  }
  await expect(plan([wanted('web'), wanted('WEB')])).rejects.toThrow('is "WEB", like the target at')
  expect(await plan([wanted('new', 'environment: production\n')])).toEqual({
    changes: [['create', 'new', []]],
    takeOvers: [],
  })
})

test.each([['other'], [null]])('a changed record of the manager %s is a takeover', async (manager) => {
  stored = { targets: [target('web', manager)] }
  expect(await plan([wanted('web', 'description: new\n')])).toEqual({
    changes: [['change', 'web', ['description', 'managed_by']]],
    takeOvers: [['web', manager]],
  })
})

test.each([['other'], [null]])(
  'a matching record of the manager %s keeps its label unless it is taken over',
  async (manager) => {
    stored = { targets: [target('web', manager)] }
    expect(await plan([wanted('web')])).toEqual({ changes: [], takeOvers: [] })
    expect(await plan([wanted('web')], { takeOver: true })).toEqual({
      changes: [['change', 'web', ['managed_by']]],
      takeOvers: [['web', manager]],
    })
  },
)

test('files without a manager change records without one, and take over those of a manager', async () => {
  const description = [wanted('web', 'description: new\n')]
  stored = { targets: [target('web', null)] }
  expect(await plan(description, { manager: null })).toEqual({
    changes: [['change', 'web', ['description']]],
    takeOvers: [],
  })
  stored = { targets: [target('web', 'other')] }
  expect(await plan(description, { manager: null })).toEqual({
    changes: [['change', 'web', ['description', 'managed_by']]],
    takeOvers: [['web', 'other']],
  })
})

test('a new version of a source of another manager is one takeover, and the label changes first', async () => {
  stored = {
    actions: [
      { id: 'a', name: 'greet', managed_by: 'other', tenant_id: null, description: null, latest_version: '1.0.0' },
    ],
  }
  routes['GET /actions/a/versions/1.0.0'] = (_request, response) =>
    sendJson(response, 200, { definition: { type: 'script', script: 'true' } })
  const action = 'kind: action\nname: greet\nversion: 1.1.0\ndefinition: { type: script, script: "false" }\n'
  expect(await plan([action])).toEqual({
    changes: [
      ['change', 'greet', ['managed_by']],
      ['publish', 'greet', ['version', 'script']],
    ],
    takeOvers: [['greet', 'other']],
  })
})

test('records that the files no longer contain are deleted, users before what they use', async () => {
  stored = {
    tenants: [{ id: 't', name: 'Acme', managed_by: 'shop' }],
    environments: [{ id: 'e', name: 'production', managed_by: 'shop', tenant_id: 't' }],
    actions: [{ id: 'a', name: 'greet', managed_by: 'shop' }],
    sequences: [{ id: 's', name: 'release', managed_by: 'shop' }],
    solutions: [{ id: 'o', name: 'shop', managed_by: 'shop' }],
    targets: [target('web', 'shop'), target('old', 'shop'), target('theirs', 'other'), target('by hand', null)],
    'deployment-freezes': [{ id: 'f', name: 'end of year', managed_by: 'shop', tenant_id: null }],
  }
  const reconciler = createReconciler([wanted('web')])
  await reconciler.plan()
  const list = async (tenant: string | null) =>
    (await reconciler.planDeletions(tenant)).map(({ kind, record }) => `${kind} ${record.name}`)
  expect(await list(null)).toEqual([
    'freeze end of year',
    'target old',
    'solution shop',
    'sequence release',
    'action greet',
    'environment production',
    'tenant Acme',
  ])
  // The files of one tenant do not affect the records of other tenants.
  expect(await list('Acme')).toEqual(['environment production'])
  expect(await list('nobody')).toEqual([])
})

test('a refused deletion returns the reason, and a missing record is no failure', async () => {
  stored = {
    targets: [target('web', 'shop'), target('old', 'shop', { id: 'old' }), target('busy', 'shop', { id: 'busy' })],
  }
  routes['DELETE /targets/busy'] = (_request, response) =>
    sendJson(response, 409, { error: { code: 'CONFLICT', message: 'The target is in use by a deployment that runs' } })
  const reconciler = createReconciler([wanted('web')])
  await reconciler.plan()
  for (const deletion of await reconciler.planDeletions(null)) {
    deleted.push(`${deletion.record.name}: ${await reconciler.delete(deletion)}`)
  }
  expect(deleted).toEqual(['old: null', 'busy: The target is in use by a deployment that runs'])
})

test('a reference to a record that is neither in the files nor on the server is refused with its place', async () => {
  stored = {}
  const sequence = 'kind: sequence\nname: release\nversion: 1.0.0\ndefinition:\n  actions:\n    - action: great\n'
  const message =
    /:6:7: definition\.actions\[0\]\.action: names the action "great", which is neither in these files nor on/
  await expect(plan([sequence])).rejects.toThrow(message)
})

test.each([
  [500, '0 of 1 changes were made; it is not known whether '],
  [409, 'nothing was changed; the first was '],
])('after the answer %i to a change, apply says what is known of it', async (status, said) => {
  const ofCheck = { assumed_permissions: false, results: [{ error: null, warnings: [] }] }
  routes['POST /catalog/check'] = (_request, response) => sendJson(response, 200, ofCheck)
  routes['POST /targets'] = (_request, response) => sendJson(response, status, { error: { code: 'X', message: 'no' } })
  fs.writeFileSync(path.join(folder, 'all.yaml'), wanted('web'))
  const { stderr } = await runSlipway(server.url, ['apply', '-f', folder, '--manager', 'shop'])
  expect(stderr).toContain(`${said}${folder}/all.yaml:1:1: target web`)
})
