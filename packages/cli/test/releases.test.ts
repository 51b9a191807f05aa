import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { Item } from '@slipway/client'
import { sendJson, startFakeServer } from '@slipway/testing'
import { runSlipway } from './slipway.ts'
import { useTimeZone } from './time-zone.ts'

useTimeZone('UTC')

const ID = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a3d'
const OTHER = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a3e'
const installed: Item<'listReleases'> = {
  target_id: ID,
  target_name: 'web-1',
  source_type: 'action',
  source_id: ID,
  source_name: 'greet',
  tenant_id: null,
  tenant_name: null,
  environment_id: OTHER,
  environment_name: 'production',
  state: 'applied',
  version: '1.1.0',
  deployment_id: ID,
  values_hash: 'x',
  variant: null,
  variants: 1,
  applied_at: '2026-11-23T10:00:00.000Z',
  applied_by: 'ann',
  last_attempt: null,
  check: null,
}
const failed: Item<'listReleases'> = {
  ...installed,
  target_name: 'web-2',
  state: 'failed',
  version: '1.0.0',
  last_attempt: {
    deployment_id: ID,
    version: '1.1.0',
    state: 'rolled_back',
    triggered_by: 'bob',
    begun_at: '2026-11-23T11:00:00.000Z',
    ended_at: '2026-11-23T11:02:00.000Z',
  },
}
const page = (data: unknown[], next_cursor: string | null = null) => ({
  data,
  meta: { total: data.length, page: 1, limit: 100, total_pages: 1, has_next: false, has_prev: false, next_cursor },
})

let server: Awaited<ReturnType<typeof startFakeServer>>
beforeAll(async () => {
  const nothing = { deployment_id: null, pending: false, message: 'nothing is left', unchanged_target_ids: [ID, OTHER] }
  const none = () => page([])
  server = await startFakeServer({
    'GET /actions': (_request, response) => sendJson(response, 200, page([{ id: ID, name: 'greet' }])),
    'GET /sequences': (_request, response) => sendJson(response, 200, none()),
    'GET /solutions': (_request, response) => sendJson(response, 200, none()),
    'GET /environments': (_request, response) => sendJson(response, 200, page([{ id: OTHER, name: 'production' }])),
    'GET /targets': (_request, response) => sendJson(response, 200, page([{ id: OTHER, name: 'web-1' }])),
    'GET /deployments': (_request, response) => sendJson(response, 200, none()),
    'GET /releases': (request, response) =>
      sendJson(response, 200, /cursor=start/.test(request.url ?? '') ? page([installed], 'next') : page([failed])),
    'POST /deployments': (_request, response) => sendJson(response, 200, nothing),
  })
})
afterAll(() => server.close())
beforeEach(() => {
  server.requests.length = 0
})

const slipway = (...args: string[]) => runSlipway(server.url, args)
const lastQuery = () => Object.fromEntries(server.requests.at(-1)?.query ?? [])

describe('where', () => {
  test('shows all pages, and the last attempt if it is not in force', async () => {
    const { code, stdout } = await slipway('where', 'greet')
    expect([code, stdout.split('\n')]).toEqual([
      0,
      [
        'TARGET  ENVIRONMENT  VERSION  WHEN                     BY   LAST ATTEMPT',
        'web-1   production   1.1.0    2026-11-23 10:00:00 UTC  ann  -',
        'web-2   production   1.0.0    2026-11-23 10:00:00 UTC  ann  1.1.0 rolled back 2026-11-23 11:02 UTC by bob',
        '',
      ],
    ])
  })

  test('prints the names of targets for -o name, each once', async () => {
    expect((await slipway('where', 'greet', '-o', 'name')).stdout).toBe('web-1\nweb-2\n')
    expect((await slipway('on', 'web-1', '-o', 'name')).stdout).toBe('greet\n')
  })

  test('sends its filters', async () => {
    const filters = ['--source-version', '1.1.0', '-e', 'production', '--tag', 'role=web', '--state', 'rolled_back']
    const { stdout } = await slipway('where', 'greet', ...filters, '-o', 'json')
    expect(JSON.parse(stdout)).toEqual([installed, failed])
    const sent = { action_id: ID, version: '1.1.0', environment_id: OTHER, tag: 'role=web', state: 'rolled_back' }
    expect(lastQuery()).toMatchObject(sent)
  })

  test.each([
    [['--state', 'broken'], 2, 'Allowed choices are running'],
    [['--tag', 'a=b', '--tag', 'c=d'], 2, 'Give it only once'],
    [['--kind', 'solution'], 3, 'there is no solution "greet"'],
  ])('where %j exits with %i', async (options, code, message) => {
    expect(await slipway('where', 'greet', ...options)).toMatchObject({
      code,
      stderr: expect.stringContaining(message),
    })
  })
})

describe('--only-changed', () => {
  const options = ['deploy', 'greet', '-t', 'web-1', '--only-changed', '--follow']

  test('succeeds if every target has the version already', async () => {
    const { code, stdout, stderr } = await slipway(...options)
    const said = 'nothing to deploy: the same versions and values are in force on 2 targets\n'
    expect([code, stdout, stderr]).toEqual([0, said, ''])
    expect(server.requests.at(-1)?.body).toMatchObject({ action_id: ID, only_changed: true })
  })

  test('prints the unchanged targets as JSON', async () => {
    const { code, stdout } = await slipway(...options, '-o', 'json')
    expect([code, JSON.parse(stdout)]).toEqual([0, { unchanged_target_ids: [ID, OTHER] }])
  })
})

describe('deployments', () => {
  test('has the subcommands list and show', async () => {
    const { code, stdout } = await slipway('deployments', 'list', '--triggered-by', 'ann', '--limit', '3')
    expect([code, stdout]).toEqual([0, 'no deployments\n'])
    expect(lastQuery()).toMatchObject({ triggered_by: 'ann' })
    const shown = await slipway('deployments', 'show', ID)
    expect([shown.code, shown.stderr]).toEqual([3, expect.stringContaining('no GET /deployments/')])
  })

  test('prints the names of targets for -o name, each once', async () => {
    expect((await slipway('where', 'greet', '-o', 'name')).stdout).toBe('web-1\nweb-2\n')
    expect((await slipway('on', 'web-1', '-o', 'name')).stdout).toBe('greet\n')
  })

  test('sends its filters', async () => {
    const filters = ['--source', 'greet', '--source-version', '1.1.0', '-t', 'web-1', '--triggered-by', 'ann']
    const { code, stdout } = await slipway('deployments', ...filters, '--since', '2h', '--until', '2036-01-01T00:00Z')
    expect([code, stdout]).toEqual([0, 'no deployments\n'])
    const { created_from = '', ...sent } = lastQuery()
    const ids = { action_id: ID, target_id: OTHER }
    expect(sent).toMatchObject({
      ...ids,
      version: '1.1.0',
      triggered_by: 'ann',
      created_before: '2036-01-01T00:00:00Z',
    })
    expect(Date.now() - Date.parse(created_from)).toBeGreaterThanOrEqual(7_200_000)
  })
})
