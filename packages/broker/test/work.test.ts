import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import type { Envelope } from '@slipway/contracts'
import { currentContext, uuidv7 } from '@slipway/runtime'
import type { GetMessage } from 'amqplib'
import {
  type Broker,
  type Delivery,
  exchangeName,
  HEADER,
  MAX_ATTEMPTS,
  PoisonMessage,
  PublishError,
  queueName,
} from '../src/index.ts'
import { eventually, Harness, reasonOf, removeInstance } from './harness.ts'

const harness = new Harness()
const { namespace } = harness
let broker: Broker

beforeAll(async () => {
  broker = await harness.broker()
})
afterEach(async () => {
  await broker.stopConsuming()
  await harness.closeBrokers()
  broker = await harness.broker()
})
afterAll(() => harness.remove())

const deadLetter = async (): Promise<GetMessage> => {
  const channel = await harness.channel()
  const letters: GetMessage[] = []
  await eventually(async () => {
    const letter = await channel.get(queueName(namespace, 'dead-letters'), { noAck: true })
    return letter && letters.push(letter)
  })
  return letters[0] as GetMessage
}
const isEmpty = async (queue: string) =>
  (await (await harness.channel()).checkQueue(`${namespace}.${queue}`)).messageCount === 0

describe('a command message', () => {
  test('reaches its handler unchanged, within the context of its request', async () => {
    const seen: { envelope: Envelope; delivery: Delivery; context: unknown }[] = []
    await broker.consume('executor.commands', {
      prefetch: 4,
      handle: async (envelope, delivery) => void seen.push({ envelope, delivery, context: currentContext() }),
    })
    const deadline = new Date(Date.now() + 60_000).toISOString()
    const message = removeInstance({ request_id: 'req-1', deadline, reason: 'schön ☃' })
    await broker.publish([message])
    await eventually(() => seen.length === 1)
    expect(seen[0]?.envelope).toMatchObject({
      message_id: message.message_id,
      type: 'instance.delete',
      request_id: 'req-1',
      deadline,
      body: message.body,
    })
    expect(Date.parse(seen[0]?.envelope.timestamp ?? '')).not.toBeNaN()
    expect(seen[0]?.delivery).toEqual({ correlationId: 'req-1', attempt: 1, redelivered: false })
    const { type: message_type, message_id } = message
    expect(seen[0]?.context).toEqual({ request_id: 'req-1', message_id, message_type })
  })

  test('is dropped before its handler runs if its deadline has passed', async () => {
    const seen: string[] = []
    await broker.publish([
      removeInstance({ reason: 'late', deadline: new Date(Date.now() - 1).toISOString() }),
      removeInstance({ reason: 'timely' }),
    ])
    await broker.consume('executor.commands', {
      prefetch: 1,
      handle: async (envelope) => void seen.push(reasonOf(envelope.body)),
    })
    await eventually(() => seen.length > 0)
    expect(seen).toEqual(['timely'])
    expect(harness.lines.some((line) => String(line['message']).includes('past its deadline'))).toBe(true)
  })

  test('arrives in the order of sending, also beyond the prefetch limit', async () => {
    const seen: number[] = []
    const count = 1_000
    await broker.publish(Array.from({ length: count }, (_, index) => removeInstance({ reason: String(index) })))
    await broker.consume('executor.commands', {
      prefetch: 50,
      handle: async (envelope) => void seen.push(Number(reasonOf(envelope.body))),
    })
    await eventually(() => seen.length === count)
    expect(seen).toEqual(Array.from({ length: count }, (_, index) => index))
  })
})

describe('an event message', () => {
  test('reaches a durable queue and each exclusive consumer whose keys match', async () => {
    const seen: string[] = []
    const note = (reader: string) => async (envelope: Envelope) => void seen.push(`${reader} ${envelope.type}`)
    await broker.consume('dispatcher.events', { prefetch: 4, handle: note('dispatcher') })
    await broker.consumeEventsExclusively(['run.*'], note('one'))
    await broker.consumeEventsExclusively(['run.*', 'slot.*'], note('two'))
    const event = { exchange: 'events' as const, request_id: null }
    const ids = { deployment_id: uuidv7(), epoch: 1 }
    await broker.publish([
      { ...event, type: 'run.rolling_back', body: ids, message_id: uuidv7() },
      { ...event, type: 'slot.freed', body: { instance_id: uuidv7() }, message_id: uuidv7() },
    ])
    await eventually(() => seen.length === 5)
    expect(seen.sort()).toEqual([
      'dispatcher run.rolling_back',
      'dispatcher slot.freed',
      'one run.rolling_back',
      'two run.rolling_back',
      'two slot.freed',
    ])
  })

  test('is no error if no queue takes it', async () => {
    const body = { target_id: uuidv7(), tenant_id: null }
    await broker.publish([{ exchange: 'events', type: 'target.updated', body, message_id: uuidv7(), request_id: null }])
  })
})

describe('a handler', () => {
  test('is called again later with the count of attempts if it fails once', async () => {
    const attempts: number[] = []
    await broker.consume('executor.commands', {
      prefetch: 1,
      handle: async (_envelope, delivery) => {
        attempts.push(delivery.attempt)
        if (delivery.attempt === 1) throw new Error('not yet')
      },
    })
    await broker.publish([removeInstance()])
    await eventually(() => attempts.length === 2)
    expect(attempts).toEqual([1, 2])
    await broker.stopConsuming()
    expect(await isEmpty('dead-letters')).toBe(true)
  })

  test('leaves a dead letter with the reason if it fails at the last attempt', async () => {
    await broker.consume('executor.commands', {
      prefetch: 1,
      handle: async () => {
        throw new Error('amqp://user:hunter2@host is down')
      },
    })
    const message = removeInstance({ request_id: 'req-9' })
    const channel = await harness.channel()
    channel.publish(
      exchangeName(namespace, 'commands'),
      'executor.commands',
      Buffer.from(JSON.stringify(message.body)),
      {
        messageId: message.message_id,
        type: message.type,
        headers: { [HEADER.attempt]: MAX_ATTEMPTS, [HEADER.requestId]: 'req-9' },
      },
    )
    const letter = await deadLetter()
    expect(JSON.parse(letter.content.toString())).toEqual(message.body)
    expect(letter.properties.messageId).toBe(message.message_id)
    expect(letter.properties.headers).toMatchObject({
      [HEADER.queue]: 'executor.commands',
      [HEADER.requestId]: 'req-9',
    })
    expect(letter.properties.headers?.[HEADER.reason]).toContain('is down')
    expect(JSON.stringify([letter.properties.headers, harness.lines])).not.toContain('hunter2')
    await broker.stopConsuming()
    expect(await isEmpty('executor.commands')).toBe(true)
  })

  test('is not called again with a message that it called poison', async () => {
    let calls = 0
    await broker.consume('executor.commands', {
      prefetch: 1,
      handle: async () => {
        calls += 1
        throw new PoisonMessage('there is no such instance')
      },
    })
    await broker.publish([removeInstance()])
    expect((await deadLetter()).properties.headers?.[HEADER.reason]).toBe('there is no such instance')
    expect(calls).toBe(1)
  })

  test.each([
    ['no JSON', 'instance.delete', '{"deployment_id": '],
    ['an unknown type', 'run.paint', '{}'],
    ['a body of another shape', 'instance.delete', '{"deployment_id": 5}'],
    ['a body that is null', 'instance.delete', 'null'],
  ])('is not called with %s', async (_name, type, content) => {
    let calls = 0
    await broker.consume('executor.commands', { prefetch: 1, handle: async () => void calls++ })
    const channel = await harness.channel()
    const options = { messageId: uuidv7(), type }
    channel.publish(exchangeName(namespace, 'commands'), 'executor.commands', Buffer.from(content), options)
    const letter = await deadLetter()
    expect(letter.content.toString()).toBe(content)
    expect(letter.properties.messageId).toBe(options.messageId)
    expect(letter.properties.headers?.[HEADER.reason]).toMatch(/^its body is not/)
    expect(calls).toBe(0)
  })

  test('finishes its current message when consuming stops, and receives no other', async () => {
    const seen: string[] = []
    let release: () => void = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await broker.consume('executor.commands', {
      prefetch: 1,
      handle: async (envelope) => {
        const reason = reasonOf(envelope.body)
        seen.push(`${reason} begun`)
        await held
        seen.push(`${reason} done`)
      },
    })
    await broker.publish([removeInstance({ reason: 'first' }), removeInstance({ reason: 'second' })])
    await eventually(() => seen.length === 1)
    const stopped = broker.stopConsuming()
    release()
    await stopped
    expect(seen).toEqual(['first begun', 'first done'])
    await harness.closeBrokers()
    const next = await harness.broker()
    await next.consume('executor.commands', {
      prefetch: 1,
      handle: async (envelope) => void seen.push(reasonOf(envelope.body)),
    })
    await eventually(() => seen.length > 2)
    expect(seen).toEqual(['first begun', 'first done', 'second'])
  })
})

describe('publishing', () => {
  test('fails for messages that no queue takes or that have an unknown type, and names only those', async () => {
    const channel = await harness.channel()
    const queue = queueName(namespace, 'planner.commands')
    await channel.unbindQueue(queue, exchangeName(namespace, 'commands'), 'planner.commands')
    const lost = removeInstance({ type: 'plan.create', body: {} })
    const unknown = removeInstance({ type: 'run.paint' })
    const good = removeInstance()
    const error = await broker.publish([lost, unknown, good]).then(
      () => null,
      (reason: unknown) => reason,
    )
    await channel.bindQueue(queue, exchangeName(namespace, 'commands'), 'planner.commands')
    expect(error).toBeInstanceOf(PublishError)
    const { failures } = error as PublishError
    expect(failures.map((failure) => failure.message_id).sort()).toEqual([lost.message_id, unknown.message_id].sort())
    expect(failures.find((failure) => failure.message_id === lost.message_id)?.reason).toContain('no queue takes it')
    await channel.purgeQueue(queueName(namespace, 'executor.commands'))
  })

  test('continues after RabbitMQ closed the channel', async () => {
    const channel = await harness.channel()
    await channel.deleteExchange(exchangeName(namespace, 'commands'))
    await expect(broker.publish([removeInstance()])).rejects.toThrow()
    await eventually(() =>
      broker.publish([removeInstance()]).then(
        () => true,
        () => false,
      ),
    )
    await eventually(() => broker.isUp())
    await channel.purgeQueue(queueName(namespace, 'executor.commands'))
  })
})
