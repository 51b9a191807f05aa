// What `create` and `edit` send for the options that several kinds share. records.test.ts has list, show and delete.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sendJson, startFakeServer } from '@slipway/testing'
import { runSlipway } from './slipway.ts'

const ID = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a3d'
const STAGING = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a3e'
const meta = { total: 1, page: 1, limit: 100, total_pages: 1, has_next: false, has_prev: false }
const list = (...data: object[]) => ({ data, meta })
/** Each edit expects the record as it was read. */
const updated_at = '2026-11-29T12:00:00.000Z'
const expected = { expected_updated_at: updated_at }
const environment = {
  id: ID,
  sqid: 'sqidblue',
  name: 'blue',
  variables: { color: 'blue', token: '***' },
  sensitive_variables: ['token'],
  rules: { approvals: { count: 1, role: null }, promotion: { from_environment_id: STAGING, hours: 24 } },
  managed_by: 'shop/catalog',
  updated_at,
}
const target = {
  id: ID,
  sqid: 'sqidweb1',
  name: 'web-1',
  tags: [{ key: 'role', value: 'web' }],
  connection: { type: 'ssh', host: 'web-1', port: 22, username: 'deploy', host_key: 'SHA256:old' },
  variables: {},
  sensitive_variables: [],
  updated_at,
}
const action = { id: ID, sqid: 'sqidact1', name: 'deploy', latest_version: '1.0.0', updated_at, warnings: [] }
const definition = { type: 'script', script: 'old', interpreter: 'python3', timeout_seconds: 60 }
const later = '2026-11-29T12:00:01.000Z'
const sequence = { ...action, name: 'roll out' }
const entries = [
  { action_id: ID, version_requirement: '^1.0.0', variables: { color: 'blue' } },
  { action_id: STAGING, variables: { size: 2 } },
]
const webhook = { id: ID, url: 'https://hooks.example.com', events: ['deployment.finished'], secret: 'whsec_once' }

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-editing-'))
const script = path.join(folder, 'deploy.sh')
fs.writeFileSync(script, '#!/usr/bin/env bash\necho new\n')
const perl = path.join(folder, 'deploy.pl')
fs.writeFileSync(perl, '#!/usr/bin/perl -w\nprint 1\n')

let server: Awaited<ReturnType<typeof startFakeServer>>
beforeAll(async () => {
  const answer = (body: object) => (_: unknown, response: Parameters<typeof sendJson>[0]) =>
    sendJson(response, 200, body)
  server = await startFakeServer({
    'GET /environments': (request, response) =>
      sendJson(
        response,
        200,
        request.url?.includes('staging') ? list({ ...environment, id: STAGING, name: 'staging' }) : list(environment),
      ),
    [`PATCH /environments/${ID}`]: answer(environment),
    'GET /targets': answer(list(target)),
    'POST /targets': answer(target),
    [`PATCH /targets/${ID}`]: answer(target),
    'GET /actions': answer(list(action)),
    [`GET /actions/${ID}`]: answer(action),
    [`GET /actions/${STAGING}`]: answer({ ...action, id: STAGING }),
    'POST /actions': answer(action),
    [`POST /actions/${ID}/versions`]: answer(action),
    [`GET /actions/${ID}/versions/1.0.0`]: answer({ definition }),
    [`PATCH /actions/${ID}`]: answer({ ...action, updated_at: later }),
    'GET /sequences': answer(list(sequence)),
    [`GET /sequences/${ID}`]: answer(sequence),
    [`POST /sequences/${ID}/versions`]: answer(sequence),
    [`GET /sequences/${ID}/versions/1.0.0`]: answer({ definition: { actions: entries, variables: [] } }),
    'POST /webhooks': answer(webhook),
  })
})
afterAll(async () => {
  await server.close()
  fs.rmSync(folder, { recursive: true })
})
beforeEach(() => {
  server.requests.length = 0
})

const slipway = (...args: string[]) => runSlipway(server.url, args, { stdin: 'secret\n' })
const getSent = (method: string) =>
  server.requests.filter(({ route }) => route.startsWith(method)).map(({ body }) => body)

test('edit without an option names the options', async () => {
  const { code, stderr } = await slipway('targets', 'edit', 'web-1')
  expect([code, stderr]).toEqual([2, expect.stringContaining('give at least one of --name, --connection')])
})

test('edit warns of a record that files describe', async () => {
  const { stderr } = await slipway('environments', 'edit', 'blue', '--description', 'new')
  expect(stderr).toContain('the files of shop/catalog describe it')
})

describe('variables', () => {
  test.each([
    [['--var', 'size:=2'], { variables: { ...environment.variables, size: 2 }, sensitive_variables: ['token'] }],
    [['--remove-var', 'token'], { variables: { color: 'blue' }, sensitive_variables: [] }],
    [
      ['--var', 'key=abcd', '--sensitive', 'key'],
      { variables: { ...environment.variables, key: 'abcd' }, sensitive_variables: ['token', 'key'] },
    ],
  ])('%j keeps the others', async (options, body) => {
    await slipway('environments', 'edit', 'blue', ...options)
    expect(getSent('PATCH')).toEqual([{ ...body, ...expected }])
  })

  test('that do not exist are not removed', async () => {
    const { code, stderr } = await slipway('environments', 'edit', 'blue', '--remove-var', 'colour')
    expect([code, stderr]).toEqual([3, expect.stringContaining('there are: color, token')])
  })
})

test.each([
  [['--approvals', '2'], { ...environment.rules, approvals: { count: 2, role: null } }],
  [['--no-approvals'], { promotion: environment.rules.promotion }],
  [['--no-approvals', '--no-promotion'], null],
  [
    ['--promotion', 'staging', '--promotion-hours', '2'],
    { ...environment.rules, promotion: { from_environment_id: STAGING, hours: 2 } },
  ],
])('the rules of an environment after %j', async (options, rules) => {
  await slipway('environments', 'edit', 'blue', ...options)
  expect(getSent('PATCH')).toEqual([{ rules, ...expected }])
})

describe('the connection of a target', () => {
  const create = ['targets', 'create', 'web-1']
  const edit = ['targets', 'edit', 'web-1']
  test.each([
    [
      [...create, '--host', 'web-1', '--user', 'deploy', '--key-file', script, '--tag', 'role=web'],
      {
        name: 'web-1',
        tags: [{ key: 'role', value: 'web' }],
        connection: { type: 'ssh', host: 'web-1', username: 'deploy', private_key: fs.readFileSync(script, 'utf8') },
      },
    ],
    [[...create, '--connection', 'agent'], { name: 'web-1', connection: { type: 'agent' } }],
    [[...edit, '--host-key', 'SHA256:new'], { connection: { ...target.connection, host_key: 'SHA256:new' } }],
    [
      [...edit, '--host', 'web-2', '--password-stdin'],
      { connection: { type: 'ssh', host: 'web-2', port: 22, username: 'deploy', password: 'secret' } },
    ],
    [
      [...edit, '--connection', 'simulated', '--duration', '2s'],
      { connection: { type: 'simulated', duration_ms: 2_000 } },
    ],
    [[...edit, '--tag', 'rack=3', '--remove-tag', 'role=web'], { tags: [{ key: 'rack', value: '3' }] }],
  ])('%j', async (words, body) => {
    expect(await slipway(...words)).toMatchObject({ code: 0 })
    expect(getSent('P')).toEqual([words.includes('create') ? body : { ...body, ...expected }])
  })

  test.each([
    [create, 'Give --host and --user for SSH'],
    [[...create, '--host', 'web-1', '--key-file', script], 'SSH needs --user'],
    [[...create, '--connection', 'local', '--host', 'web-1'], 'for --connection ssh, not local'],
    [[...edit, '--host', 'web-2'], 'Slipway keeps no secret for another host'],
    [[...edit, '--duration', '2s'], 'web-1 is ssh; give --connection simulated to change it'],
    [[...edit, '--connection', 'local', '--duration', '2s'], 'for --connection simulated, not local'],
    [[...edit, '--host', 'web-2', '--without-secret'], "unknown option '--without-secret'"],
  ])('%j is wrong usage', async (words, message) => {
    expect(await slipway(...words)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) })
    expect(getSent('P')).toEqual([])
  })
})

describe('an action', () => {
  test('is created with its first version, and the first line of the script names the interpreter', async () => {
    await slipway('actions', 'create', 'deploy', '--script-file', script)
    const text = fs.readFileSync(script, 'utf8')
    expect(getSent('POST')).toEqual([
      { name: 'deploy', version: '1.0.0', definition: { type: 'script', script: text, interpreter: 'bash' } },
    ])
  })

  test('gets a version that differs from the latest one in what the options say', async () => {
    await slipway('actions', 'edit', 'deploy', '--source-version', '1.1.0', '--max-retries', '2')
    expect(getSent('POST')).toEqual([{ version: '1.1.0', definition: { ...definition, max_retries: 2 }, ...expected }])
  })

  test('gets new fields first, and its new version expects what this has answered', async () => {
    const options = ['--description', 'new', '--source-version', '1.1.0', '--timeout', '2m']
    expect(await slipway('actions', 'edit', 'deploy', ...options)).toMatchObject({ code: 0 })
    expect(getSent('P')).toEqual([
      { description: 'new', ...expected },
      { version: '1.1.0', definition: { ...definition, timeout_seconds: 120 }, expected_updated_at: later },
    ])
  })

  test('has the interpreter of the first line of a new script, too', async () => {
    await slipway('actions', 'edit', 'deploy', '--source-version', '1.1.0', '--script-file', script)
    expect(getSent('POST')).toMatchObject([{ definition: { interpreter: 'bash' } }])
  })

  test.each([['create'], ['edit']])('%s refuses a first line that names another program', async (verb) => {
    const words = ['actions', verb, 'deploy', '--source-version', '1.1.0', '--script-file', perl]
    expect(await slipway(...words)).toMatchObject({ code: 2, stderr: expect.stringContaining('give --interpreter') })
    expect(getSent('P')).toEqual([])
    expect(await slipway(...words, '--interpreter', 'sh')).toMatchObject({ code: 0 })
  })
})

test.each([
  [
    [ID, STAGING],
    [entries[0], entries[1]],
  ],
  [
    [STAGING, `${ID}@^2.0.0`],
    [entries[1], { ...entries[0], version_requirement: '^2.0.0' }],
  ],
  [
    [ID, ID],
    [entries[0], { action_id: ID }],
  ],
])('the actions %j of a sequence keep their variables and ranges', async (actions, sent) => {
  const words = actions.flatMap((one) => ['--action', one])
  expect(await slipway('sequences', 'edit', 'roll out', '--source-version', '1.1.0', ...words)).toMatchObject({
    code: 0,
  })
  expect(getSent('POST')).toEqual([{ version: '1.1.0', definition: { actions: sent, variables: [] }, ...expected }])
})

test.each([[[]], [['-o', 'name']]])('the secret of a webhook is printed with %j', async (options) => {
  const create = ['webhooks', 'create', webhook.url, '--event', 'deployment.finished', ...options]
  expect(await slipway(...create)).toMatchObject({ code: 0, stderr: expect.stringContaining('whsec_once') })
})
