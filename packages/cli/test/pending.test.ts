import { afterEach, expect, test } from '@jest/globals'
import { sendJson, startFakeServer } from '@slipway/testing'
import { runSlipway } from './slipway.ts'

let server: Awaited<ReturnType<typeof startFakeServer>> | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

const WHAT = { source_name: 'web', source_version: '1.0.0', target_count: 0, targets: [] }

test('pending why shows all that a request waits for, its pool, its position there, and the instances', async () => {
  const id = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a3d'
  const request = {
    id,
    status: 'pending',
    priority: 0,
    position: 7,
    retry_count: 0,
    queued_at: '2026-11-23 10:00:00',
    waiting_for: 'target_lock',
    waiting_reason: 'Waits for the target "web-1"',
    earliest_start: null,
    blockers: [
      {
        code: 'target_lock',
        message: 'Waits for the target "web-1"',
        until: null,
        can_override: false,
        details: { held_targets: [{ target_id: id, target_name: 'web-1', since: '2026-11-23T10:00:00.000Z' }] },
      },
      {
        code: 'capacity',
        message: 'All 2 slots are taken',
        until: '2026-11-23T10:05:00.000Z',
        can_override: false,
        details: {},
      },
    ],
    ...WHAT,
    instance_pool: {
      name: 'zone=a',
      selector: { match_labels: { zone: 'a' } },
      position: 3,
      known: 5,
      matching: 2,
      accepting: 1,
      slots: 2,
      taken: 2,
    },
  }
  server = await startFakeServer({
    [`GET /deployments/pending/${id}`]: (_request, response) => sendJson(response, 200, request),
  })
  const { code, stdout } = await runSlipway(server.url, ['pending', 'why', id])
  expect(code).toBe(0)
  expect(stdout).toMatch(/waits for: +Waits for the target "web-1"\n/)
  expect(stdout).toMatch(/and for: +All 2 slots are taken, until about 2026-11-23 10:05/)
  expect(stdout).toMatch(/held target: +web-1, by another tenant since/)
  expect(stdout).toMatch(/position: +7\n/)
  expect(stdout).toMatch(/pool: +zone=a, position 3\n/)
  expect(stdout).toMatch(/instances: +2 of 5 match, 1 of them take runs \(2 of 2 slots taken\)\n/)
})

test('watch polls the request alone, until it is cancelled', async () => {
  const id = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a3d'
  const request = {
    id,
    priority: 0,
    retry_count: 0,
    queued_at: '2026-11-23 10:00:00',
    waiting_reason: 'No slot is free',
  }
  const statuses = ['pending', 'pending', 'pending', 'cancelled']
  server = await startFakeServer({
    [`GET /deployments/pending/${id}`]: (_request, response) =>
      sendJson(response, 200, { ...request, status: statuses.shift() }),
  })
  const { stdout } = await runSlipway(server.url, ['watch', id])
  expect(stdout).toContain('queued: No slot is free\n')
  expect(stdout).toContain(`request ${id} was cancelled\n`)
  expect(server.requests.map(({ route }) => route)).toEqual([
    `GET /deployments/${id}`,
    ...Array(4).fill(`GET /deployments/pending/${id}`),
  ])
})

test('pending list filters by what a request waits for', async () => {
  server = await startFakeServer({
    'GET /deployments/pending': (_request, response) => sendJson(response, 200, []),
  })
  await runSlipway(server.url, ['pending', 'list', '--waiting-for', 'freeze'])
  expect(server.requests.at(-1)?.query.get('waiting_for')).toBe('freeze')
})

test('pending list shows why a request ended', async () => {
  const ended = { id: '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a3d', priority: 0, queued_at: '2026-11-23 10:00:00' }
  const error_message = 'Superseded by the request 028f6b1e'
  server = await startFakeServer({
    'GET /deployments/pending': (_request, response) =>
      sendJson(response, 200, [{ ...ended, ...WHAT, status: 'cancelled', error_message }]),
  })
  const { stdout } = await runSlipway(server.url, ['pending', 'list', '--status', 'cancelled'])
  expect(stdout).toMatch(/ cancelled .* Superseded by the request 028f6b1e$/m)
  expect(server.requests.at(-1)?.query.get('status')).toBe('cancelled')
})
