import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { sendJson, startFakeServer } from '@slipway/testing'
import { runSlipway } from './slipway.ts'
import { useTimeZone } from './time-zone.ts'

useTimeZone('UTC')

const ID = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a3d'
const OTHER = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a3e'
const AT = '2026-11-23T10:00:00.000Z'
const release = (target_name: string, check: object | null) => ({
  target_name,
  source_name: 'greet',
  version: '1.1.0',
  check,
})
const clean = {
  result: 'in_sync',
  checked_at: AT,
  drifted_since: null,
  message: null,
  is_pending: false,
  next_at: null,
}
const drifted = { ...clean, result: 'drifted', drifted_since: AT, message: 'write: app.conf differs\n< a' }

/** The pages of the list, one for each call. The last page is repeated. */
let answers: object[][] = []
const page = (data: unknown[]) => ({
  data,
  meta: { total: data.length, page: 1, limit: 100, total_pages: 1, has_next: false, has_prev: false },
})

let server: Awaited<ReturnType<typeof startFakeServer>>
beforeAll(async () => {
  const none = () => page([])
  server = await startFakeServer({
    'GET /actions': (_request, response) => sendJson(response, 200, page([{ id: ID, name: 'greet' }])),
    'GET /sequences': (_request, response) => sendJson(response, 200, none()),
    'GET /solutions': (_request, response) => sendJson(response, 200, none()),
    'GET /targets': (_request, response) => sendJson(response, 200, page([{ id: OTHER, name: 'web-1' }])),
    'GET /releases': (_request, response) =>
      sendJson(response, 200, page((answers.length > 1 ? answers.shift() : answers[0]) ?? [])),
    'POST /releases/check': (_request, response) =>
      sendJson(response, 202, { requested_at: AT, total: 2, unchecked: 1 }),
  })
})
afterAll(() => server.close())
beforeEach(() => {
  server.requests.length = 0
})

const slipway = (...args: string[]) => runSlipway(server.url, args)
const lists = () => server.requests.filter(({ route }) => route === 'GET /releases')

test('drift lists drifted releases and fails', async () => {
  answers = [[release('web-1', drifted), release('web-2', clean), release('web-3', null)]]
  const { code, stdout } = await slipway('drift')
  expect([code, stdout.split('\n')]).toEqual([
    1,
    [
      'SOURCE  TARGET  VERSION  SINCE                 CHECKED               FOUND',
      'greet   web-1   1.1.0    2026-11-23 10:00 UTC  2026-11-23 10:00 UTC  write: app.conf differs',
      '',
    ],
  ])
})

test.each([
  ['nothing has drifted (1 release checked)', [release('web-2', clean), release('web-3', null)]],
  ['nothing was checked yet', [release('web-3', null)]],
])('drift succeeds and prints: %s', async (said, found) => {
  answers = [found]
  expect(await slipway('drift', 'greet', '-t', 'web-1')).toMatchObject({ code: 0, stdout: `${said}\n` })
  expect(Object.fromEntries(lists()[0]?.query ?? [])).toMatchObject({ action_id: ID, target_id: OTHER })
})

test('--check requests checks and ends', async () => {
  const { code, stdout } = await slipway('drift', 'greet', '-t', 'web-1', '--check')
  expect([code, stdout]).toEqual([0, 'checking 2 releases; 1 without a check\n'])
  expect(server.requests.at(-1)?.body).toEqual({ action_id: ID, target_ids: [OTHER] })
})

test('--check --wait shows the results of the checks', async () => {
  answers = [[release('web-1', { ...clean, is_pending: true })], [release('web-1', drifted)]]
  const { code, stdout } = await slipway('drift', 'greet', '--check', '--wait')
  expect(code).toBe(1)
  expect(stdout).toMatch(/checking 2 releases.*\n.*\n.*web-1/)
  expect(lists()).toHaveLength(2)
})

test.each([
  [['--check'], 2],
  [['gree'], 3],
  [['greet', '--wait', '--timeout', '10ms'], 5],
])('drift %j exits with %i', async (options, code) => {
  answers = [[release('web-1', { ...clean, is_pending: true })]]
  expect(await slipway('drift', ...options)).toMatchObject({ code })
})
