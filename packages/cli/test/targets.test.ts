import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sendJson, startFakeServer } from '@slipway/testing'
import { runSlipway } from './slipway.ts'
import { useTimeZone } from './time-zone.ts'

useTimeZone('UTC')

const target = {
  id: '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a3d',
  sqid: 'abcdefgh',
  name: 'web-1',
  description: null,
  tenant_id: null,
  environment_id: null,
  tags: [],
  connection: { type: 'ssh', host: 'web-1', port: 22, username: 'u' },
  variables: {},
  sensitive_variables: [],
  instance_selector: null,
  enabled: true,
  concurrency: null,
  status: 'offline',
  managed_by: 'shop/catalog',
  last_seen_at: '2026-11-23T09:00:00.000Z',
  last_error: 'connection refused by web-1:22\u001b[31m',
  unreachable_since: '2026-11-23T10:00:00.000Z',
}
const meta = { total: 1, page: 1, limit: 100, total_pages: 1, has_next: false, has_prev: false }

let server: Awaited<ReturnType<typeof startFakeServer>>
beforeAll(async () => {
  server = await startFakeServer({
    'GET /targets': (_request, response) => sendJson(response, 200, { data: [target], meta }),
  })
})
afterAll(() => server.close())

test('an unreachable target shows the error, its time and its manager', async () => {
  const listed = await runSlipway(server.url, ['targets', 'list'])
  expect(listed.stdout).toMatch(/SINCE +LAST ERROR\n.*offline.*2026-11-23 10:00 UTC +connection refused by web-1:22/)
  const { stdout } = await runSlipway(server.url, ['targets', 'show', 'web-1'])
  expect(stdout).toMatch(/^not reached since: +2026-11-23/m)
  expect(stdout).toMatch(/^last error: +connection refused by web-1:22/m)
  expect(stdout).toMatch(/^managed by: +shop\/catalog$/m)
  expect(`${listed.stdout}${stdout}`).not.toContain('\u001b')
})
