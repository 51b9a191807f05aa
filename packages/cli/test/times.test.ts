import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sendJson, startFakeServer } from '@slipway/testing'
import { runSlipway } from './slipway.ts'
import { useTimeZone } from './time-zone.ts'

useTimeZone('Europe/Berlin')

const ID = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a3d'
const OTHER = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a3e'
const meta = { total: 1, page: 1, limit: 100, total_pages: 1, has_next: false, has_prev: false }
const freeze = {
  id: ID,
  name: 'nights',
  start_time: '2026-07-01T20:00:00Z',
  end_time: '2026-07-02T04:00:00Z',
  recurrence: 'FREQ=DAILY',
  time_zone: 'Asia/Tokyo',
  tenant_id: null,
  environment_id: null,
  solution_id: null,
  active: true,
  windows: [{ starts_at: '2026-07-01T20:00:00Z', ends_at: '2026-07-02T04:00:00Z' }],
}
const request = {
  id: ID,
  status: 'pending',
  priority: 0,
  position: 1,
  queued_at: '2026-07-01 12:30:00',
  waiting_for: 'freeze',
  waiting_reason: 'Held back by freeze "nights" until 2026-07-02T04:00:00.000Z',
  source_name: 'web',
  source_version: '1.0.0',
  target_count: 0,
  targets: [],
}
const action = {
  id: ID,
  sqid: 'abcdefgh',
  name: 'greet',
  latest_version: '1.0.0',
  tenant_id: null,
  versions: [{ version: '1.0.0', created_at: '2026-07-01T12:30:00Z' }],
}
const record = (resource_id: string, details: object) => ({
  id: resource_id,
  at: '2026-07-01T12:30:00Z',
  actor_name: 'ada',
  api_key_name: null,
  actor_ip: null,
  action: 'target.create',
  resource_id,
  details,
})
const active_freezes = [{ id: ID, name: 'nights', ends_at: '2026-07-02T04:00:00.000Z', target_ids: [OTHER, ID] }]

let server: Awaited<ReturnType<typeof startFakeServer>>
beforeAll(async () => {
  const page = (...data: object[]) => ({ data, meta })
  server = await startFakeServer({
    'GET /deployment-freezes': (_, response) => sendJson(response, 200, page(freeze)),
    'GET /deployments/pending': (_, response) => sendJson(response, 200, [request]),
    [`GET /deployments/pending/${ID}`]: (_, response) => sendJson(response, 200, request),
    'GET /actions': (_, response) => sendJson(response, 200, page(action)),
    [`GET /actions/${ID}`]: (_, response) => sendJson(response, 200, action),
    'GET /sequences': (_, response) => sendJson(response, 200, page()),
    'GET /solutions': (_, response) => sendJson(response, 200, page()),
    [`GET /targets/${OTHER}`]: (_, response) => sendJson(response, 200, { id: OTHER, name: 'web-1' }),
    'POST /deployments': (_, response) =>
      sendJson(response, 409, {
        error: { code: 'DEPLOYMENT_FROZEN', message: 'frozen by "nights"', details: { active_freezes } },
      }),
    'GET /audit/logs': (_, response) =>
      sendJson(
        response,
        200,
        page(
          record(OTHER, { name: 'web-1' }),
          record(ID, {
            freeze_override: { reason: 'urgent fix', freezes: [] },
            rules_override: { reason: 'urgent fix' },
          }),
        ),
      ),
  })
})
afterAll(() => server.close())
const slipway = (...args: string[]) => runSlipway(server.url, args)
const END = '2026-07-02 06:00 +02:00'

test.each([
  ['pending list', ['pending', 'list'], END],
  ['pending why', ['pending', 'why', ID], END],
  ['freeze list', ['freeze', 'list'], END],
  ['the windows of freeze show', ['freeze', 'show', 'nights'], 'starts_at: 2026-07-01 22:00 +02:00'],
  ['the versions of actions show', ['actions', 'show', 'greet'], '2026-07-01 14:30 +02:00'],
])('%s has local times with their zone', async (_, args, expected) => {
  const { stdout } = await slipway(...args)
  expect(stdout).toContain(expected)
  expect(stdout).not.toMatch(/\d{4}-\d\d-\d\dT/)
})

test('freeze list shows the zone of a recurrence', async () => {
  expect((await slipway('freeze', 'list')).stdout).toMatch(/FREQ=DAILY +Asia\/Tokyo/)
})

test('a freeze refusal has local times and the names of targets, as far as they can be read', async () => {
  const { code, stderr } = await slipway('deploy', 'greet', '--tag', 'a=b')
  expect(code).toBe(3)
  expect(stderr).toContain(`slipway: deployments are frozen by "nights" (DEPLOYMENT_FROZEN) [request request-7]`)
  expect(stderr).toContain(`  nights, until ${END}, by targets web-1, ${ID}\n`)
})

test('audit shows the name of a record, if the answer holds it, and the reason of an override', async () => {
  const { stdout } = await slipway('audit')
  expect(stdout).toContain('done, freeze overridden: urgent fix, rules overridden: urgent fix\n')
  expect(stdout).toMatch(/target\.create +web-1 /)
  expect(stdout).toMatch(new RegExp(`target\\.create +${ID} `))
})
