import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { uuidv7 } from '@slipway/runtime'
import {
  type Broker,
  BrokerUnavailable,
  type Delivery,
  exchangeName,
  queueName,
  type ReplyEnvelope,
  RequestTimeout,
} from '../src/index.ts'
import { eventually, Harness } from './harness.ts'

const harness = new Harness()
let gateway: Broker
let planner: Broker
let dispatcher: Broker

const caller = { user_id: uuidv7(), username: 'ada', tenant_id: null, may_override_freezes: true, ip: '127.0.0.1' }
const cancel = (pending_request_id: string) => ({ pending_request_id, caller })
const waiting = { timeoutMs: 10_000, request_id: 'req-1' }

/** Handles the commands of the dispatcher. Each test replaces it. */
let handle: (body: unknown, delivery: Delivery) => void = () => {}

beforeAll(async () => {
  ;[gateway, planner, dispatcher] = await Promise.all([harness.broker(), harness.broker(), harness.broker()])
  await dispatcher.consume('dispatcher.commands', {
    prefetch: 8,
    handle: async ({ body }, delivery) => handle(body, delivery),
  })
})
afterAll(() => harness.remove())

test('a third service replies to a command that another service passed on', async () => {
  const id = uuidv7()
  await planner.consume('planner.commands', {
    prefetch: 8,
    handle: async ({ message_id, request_id, deadline }, { replyTo, correlationId }) => {
      await planner.publish([
        {
          exchange: 'commands',
          type: 'pending.cancel',
          body: cancel(id),
          message_id: `${message_id}/next`,
          request_id,
          ...(replyTo === undefined ? {} : { reply_to: replyTo }),
          ...(correlationId === undefined ? {} : { correlation_id: correlationId }),
          ...(deadline === undefined ? {} : { deadline }),
        },
      ])
    },
  })
  handle = (body, delivery) => {
    const { pending_request_id } = body as { pending_request_id: string }
    const result = { outcome: 'started', deployment_id: pending_request_id, warnings: [], of_a_newer_release: true }
    dispatcher.reply(delivery.replyTo, delivery.correlationId, { ok: true, result })
  }
  const request = { action_id: uuidv7(), target_ids: [uuidv7()] }
  const body = { command_id: uuidv7(), caller, request, sealed_values: null }
  const reply = await gateway.request(
    'plan.create',
    body as Parameters<typeof gateway.request<'plan.create'>>[1],
    waiting,
  )
  expect(reply).toMatchObject({ ok: true, result: { outcome: 'started', deployment_id: id } })
})

test('concurrent requests each get their own reply, also if it is a problem', async () => {
  handle = (body, { replyTo, correlationId }) => {
    const { pending_request_id } = body as { pending_request_id: string }
    const problem = { code: 'CONFLICT', message: pending_request_id }
    const answer: ReplyEnvelope = /[0-7]$/.test(pending_request_id)
      ? { ok: true, result: { pending_request_id } }
      : { ok: false, problem }
    dispatcher.reply(replyTo, correlationId, answer)
  }
  const ids = Array.from({ length: 200 }, () => uuidv7())
  const replies = await Promise.all(ids.map((id) => gateway.request('pending.cancel', cancel(id), waiting)))
  expect(replies.map((reply) => (reply.ok ? reply.result.pending_request_id : reply.problem.message))).toEqual(ids)
})

test('a late, unknown or misaddressed reply has no effect on other requests', async () => {
  const deliveries = new Map<string, Delivery>()
  handle = (body, delivery) =>
    void deliveries.set((body as { pending_request_id: string }).pending_request_id, delivery)
  const [givenUp, patient] = [uuidv7(), uuidv7()]
  const inTime = new Date(Date.now() + 60_000).toISOString()
  const impatient = { ...waiting, timeoutMs: 1, deadline: inTime }
  await expect(gateway.request('pending.cancel', cancel(givenUp), impatient)).rejects.toThrow(RequestTimeout)
  const asked = gateway.request('pending.cancel', cancel(patient), waiting)
  await eventually(() => deliveries.size === 2)

  const late = deliveries.get(givenUp)
  dispatcher.reply(late?.replyTo, late?.correlationId, { ok: true, result: {} })
  const timely = deliveries.get(patient)
  dispatcher.reply(timely?.replyTo, 'of another time', { ok: true, result: {} })
  dispatcher.reply('amq.rabbitmq.reply-to.of-nobody', uuidv7(), { ok: true, result: {} })
  dispatcher.reply(undefined, undefined, { ok: true, result: {} })
  dispatcher.reply(timely?.replyTo, timely?.correlationId, { ok: true, result: { pending_request_id: patient } })
  expect(await asked).toEqual({ ok: true, result: { pending_request_id: patient } })
  expect(dispatcher.isUp()).toBe(true)
})

test('a reply to an address that is a queue name is not put into the queue', async () => {
  const queue = queueName(harness.namespace, 'executor.commands')
  dispatcher.reply(queue, uuidv7(), { ok: true, result: {} })
  const id = uuidv7()
  handle = (_body, { replyTo, correlationId }) =>
    dispatcher.reply(replyTo, correlationId, { ok: true, result: { pending_request_id: id } })
  await gateway.request('pending.cancel', cancel(id), waiting)
  expect((await (await harness.channel()).checkQueue(queue)).messageCount).toBe(0)
})

test('a reply that is not valid fails the request, and the error says that it may have had an effect', async () => {
  handle = (_body, { replyTo, correlationId }) => dispatcher.reply(replyTo, correlationId, { ok: true, result: {} })
  const failure: unknown = await gateway.request('pending.cancel', cancel(uuidv7()), waiting).catch((error) => error)
  expect(failure).toBeInstanceOf(BrokerUnavailable)
  expect(failure).toMatchObject({ mayHaveBeenSent: true, cause: { message: expect.stringContaining('is required') } })
})

test('a command that no queue takes fails at once, and the error says that nothing was sent', async () => {
  const channel = await harness.channel()
  const binding = [
    queueName(harness.namespace, 'dispatcher.commands'),
    exchangeName(harness.namespace, 'commands'),
    'dispatcher.commands',
  ] as const
  await channel.unbindQueue(...binding)
  const error = await gateway.request('pending.cancel', cancel(uuidv7()), waiting).catch((reason: unknown) => reason)
  await channel.bindQueue(...binding)
  expect(error).toBeInstanceOf(BrokerUnavailable)
  expect((error as BrokerUnavailable).mayHaveBeenSent).toBe(false)
})

test('a body that violates the contract is refused before it is sent', async () => {
  await expect(gateway.request('pending.cancel', cancel('seven'), waiting)).rejects.toThrow(/pending_request_id/)
})
