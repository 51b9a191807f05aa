import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Broker } from '@slipway/broker'
import type { Envelope } from '@slipway/contracts'
import { notFound, toErrorBody } from '@slipway/domain'
import { raised } from '@slipway/testing'
import request from 'supertest'
import { addDeployment } from './deployment-rows.ts'
import { type CommandAnswer, startOtherServices } from './other-services.ts'
import { type Client, clientOf, impatient, startGateway, type TestGateway, UNKNOWN_ID } from './setup.ts'

const REQUESTS = 'slipway_http_request_duration_seconds_count'
const ANSWERS = 'slipway_answer_wait_seconds_count'

let gateway: TestGateway
let admin: Client
let services: Broker
let answer: (message: Envelope) => Promise<CommandAnswer> | CommandAnswer

beforeAll(async () => {
  gateway = await startGateway()
  admin = clientOf(gateway, gateway.adminToken)
  services = await startOtherServices(gateway, (message) => answer(message))
})
afterAll(async () => {
  await services.close()
  await gateway.close()
})

const create = (client = admin) =>
  client.send('createDeployment', '/deployments', { action_id: UNKNOWN_ID, target_ids: [UNKNOWN_ID] })
const route = '/api/v1/deployments'
const command = 'plan.create'

test('calls are timed by route and status, and commands by outcome', async () => {
  answer = async ({ body }) => {
    const { command_id: id } = body as { command_id: string }
    const deployment_id = await addDeployment(gateway.database, { id })
    return { ok: true, result: { outcome: 'started', deployment_id, warnings: [] } }
  }
  expect(
    await raised(create, [
      [REQUESTS, { method: 'POST', route, status: '201' }],
      [ANSWERS, { command, outcome: 'answered' }],
    ]),
  ).toEqual([1, 1])

  const { code, message } = toErrorBody(notFound('The action')).error
  answer = () => ({ ok: false, problem: { code, message } })
  expect(
    await raised(create, [
      [REQUESTS, { method: 'POST', route, status: '404' }],
      [ANSWERS, { command, outcome: 'refused' }],
    ]),
  ).toEqual([1, 1])

  answer = () => 'silence'
  expect(
    await raised(
      () => create(clientOf(impatient(gateway), gateway.adminToken)),
      [
        [REQUESTS, { method: 'POST', route, status: '503' }],
        [ANSWERS, { command, outcome: 'unanswered' }],
      ],
    ),
  ).toEqual([1, 1])

  expect(
    await raised(
      () => request(gateway.app).get('/api/v1/nowhere/at/all'),
      [[REQUESTS, { route: 'none', status: '404' }]],
    ),
  ).toEqual([1])
})
