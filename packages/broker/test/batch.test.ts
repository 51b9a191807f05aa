import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { Envelope } from '@slipway/contracts'
import { currentContext, uuidv7 } from '@slipway/runtime'
import type { GetMessage } from 'amqplib'
import { type Batch, encodeBatch, gather } from '../src/batch.ts'
import { type Broker, type Delivery, HEADER, type OutgoingMessage, PoisonMessage, queueName } from '../src/index.ts'
import { eventually, Harness, reasonOf, removeInstance } from './harness.ts'

const harness = new Harness()
const { namespace } = harness
let broker: Broker

beforeEach(async () => {
  broker = await harness.broker()
})
afterEach(() => harness.closeBrokers())
afterAll(() => harness.remove())

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

function batchesOf(messages: OutgoingMessage[]): Batch[] {
  const batches: Batch[] = []
  for (const message of messages) gather(batches, message)
  return batches
}

/** Publishes the batches that the messages form, past the broker under test. */
async function send(messages: OutgoingMessage[]): Promise<void> {
  const channel = await harness.channel()
  for (const batch of batchesOf(messages)) {
    const { exchange, routingKey, content, options } = encodeBatch(batch, namespace)
    channel.publish(exchange, routingKey, content, options)
  }
}

const deadLetters = async (count: number): Promise<GetMessage[]> => {
  const channel = await harness.channel()
  const letters: GetMessage[] = []
  await eventually(async () => {
    const letter = await channel.get(queueName(namespace, 'dead-letters'), { noAck: true })
    return letter && letters.push(letter) === count
  })
  return letters
}
const left = async (queue: 'executor.commands' | 'dead-letters') =>
  (await (await harness.channel()).checkQueue(queueName(namespace, queue))).messageCount

describe('gathering messages into batches', () => {
  test('gathers adjacent messages of one type without a reply address, in order, up to a count and a size', () => {
    const freed = (n: number) =>
      Array.from({ length: n }, (): OutgoingMessage => {
        return { exchange: 'events', type: 'slot.freed', body: {}, message_id: uuidv7(), request_id: null }
      })
    const sizes = (messages: OutgoingMessage[]) => batchesOf(messages).map((batch) => batch.messages.length)
    expect(sizes([removeInstance(), removeInstance(), ...freed(2), removeInstance()])).toEqual([2, 2, 1])
    expect(sizes(freed(45))).toEqual([20, 20, 5])
    expect(sizes(Array.from({ length: 5 }, () => removeInstance({ reason: 'x'.repeat(40_000) })))).toEqual([2, 2, 1])
    const awaited = { reply_to: 'amq.rabbitmq.reply-to.1', correlation_id: 'c' }
    expect(
      sizes([
        removeInstance(),
        removeInstance(awaited),
        removeInstance({ deadline: new Date().toISOString() }),
        removeInstance(),
      ]),
    ).toEqual([1, 1, 1, 1])
    const messages = [...freed(3), removeInstance(), ...freed(3)]
    expect(batchesOf(messages).flatMap((batch) => batch.messages)).toEqual(messages)
  })

  test('sends a single message without the batch format', () => {
    const [batch] = batchesOf([removeInstance()])
    const { content, options } = encodeBatch(batch as Batch, namespace)
    expect(JSON.parse(content.toString())).toEqual(batch?.messages[0]?.body)
    expect(options.headers).not.toHaveProperty(HEADER.parts)
  })

  test('sends a body that is already JSON unchanged', () => {
    const { body, ...rest } = removeInstance()
    const json = JSON.stringify(body, undefined, 0).replaceAll(',', ', ')
    const batches = batchesOf([{ ...rest, json }, removeInstance({ body })])
    const contents = batches.map((batch) => encodeBatch(batch, namespace).content.toString())
    expect(contents[0]?.split('\n').filter((_, line) => line % 2 === 1)).toEqual([json, JSON.stringify(body)])
    expect(contents).toHaveLength(1)
  })
})

describe('a message of a batch', () => {
  test('reaches its handler like a single message, and at most `prefetch` are handled at a time', async () => {
    const messages = [
      removeInstance({ reason: 'schön ☃\n', request_id: 'req-1', traceparent: TRACE }),
      ...Array.from({ length: 20 }, (_, n) => removeInstance({ reason: `${n}`, traceparent: null })),
    ]
    const seen: { envelope: Envelope; delivery: Delivery; context: unknown }[] = []
    let inHand = 0
    let most = 0
    await broker.consume('executor.commands', {
      prefetch: 3,
      handle: async (envelope, delivery) => {
        most = Math.max(most, ++inHand)
        seen.push({ envelope, delivery, context: currentContext() })
        await new Promise(setImmediate)
        inHand -= 1
      },
    })
    await send(messages)
    await eventually(() => seen.length === messages.length && inHand === 0)
    expect(seen.map(({ envelope }) => envelope)).toMatchObject(
      messages.map(({ message_id, type, request_id, body }) => ({ message_id, type, request_id, body })),
    )
    expect(seen[0]?.envelope.traceparent).toBe(TRACE)
    expect(seen[0]?.delivery).toEqual({ correlationId: 'req-1', attempt: 1, redelivered: false })
    expect(seen[0]?.context).toMatchObject({ request_id: 'req-1', message_id: messages[0]?.message_id })
    expect(seen[1]?.envelope).not.toHaveProperty('traceparent')
    expect(seen[1]?.delivery).toEqual({ attempt: 1, redelivered: false })
    expect(most).toBe(3)
    await broker.stopConsuming()
    expect(await left('executor.commands')).toBe(0)
  })

  test('is retried or dead-lettered alone, and the other messages are handled once', async () => {
    const messages = ['good', 'poison', 'fails once', 'shapeless', 'good'].map((reason) =>
      removeInstance(reason === 'shapeless' ? { body: { reason } } : { reason }),
    )
    const seen: string[] = []
    await broker.consume('executor.commands', {
      prefetch: 10,
      handle: async (envelope, { attempt }) => {
        seen.push(`${reasonOf(envelope.body)} ${attempt}`)
        if (reasonOf(envelope.body) === 'poison') throw new PoisonMessage('it cannot be')
        if (reasonOf(envelope.body) === 'fails once' && attempt === 1) throw new Error('not yet')
      },
    })
    await send(messages)
    await eventually(() => seen.includes('fails once 2'))
    expect(seen).toEqual(['good 1', 'poison 1', 'fails once 1', 'good 1', 'fails once 2'])
    const letters = await deadLetters(2)
    const dead = letters.map(({ content, properties }) => ({
      id: properties.messageId,
      body: JSON.parse(content.toString()),
    }))
    const of = (index: number) => ({ id: messages[index]?.message_id, body: messages[index]?.body })
    expect(dead.sort((a, b) => a.id.localeCompare(b.id))).toEqual([of(1), of(3)])
    expect(letters.every(({ properties }) => properties.headers?.[HEADER.parts] === undefined)).toBe(true)
    await broker.stopConsuming()
    expect(await left('executor.commands')).toBe(0)
  })

  test('is delivered alone after its consumer died with the batch', async () => {
    const messages = ['one', 'deadly', 'three'].map((reason) => removeInstance({ reason }))
    await broker.consume('executor.commands', { prefetch: 1, handle: () => new Promise(() => {}) })
    await send(messages)
    await eventually(async () => (await left('executor.commands')) === 0)
    // Closing ends the connection while the batch is unacknowledged, as a crash does.
    void broker.close()
    const next = await harness.broker()
    const seen: { reason: string; delivery: Delivery }[] = []
    await next.consume('executor.commands', {
      prefetch: 10,
      handle: async (envelope, delivery) => void seen.push({ reason: reasonOf(envelope.body), delivery }),
    })
    await eventually(() => seen.length === 3)
    expect(seen).toEqual(
      ['one', 'deadly', 'three'].map((reason) => ({ reason, delivery: { attempt: 1, redelivered: false } })),
    )
    await next.stopConsuming()
    expect(await left('executor.commands')).toBe(0)
  })

  test('is handled by an exclusive consumer even if other messages of the batch fail', async () => {
    const seen: string[] = []
    await broker.consumeEventsExclusively(['run.*'], async ({ body }) => {
      const { epoch } = body as { epoch: number }
      seen.push(String(epoch))
      if (epoch === 1) throw new Error('no')
    })
    const begun = (epoch: number): OutgoingMessage => ({
      exchange: 'events',
      type: 'run.rolling_back',
      body: { deployment_id: uuidv7(), epoch },
      message_id: uuidv7(),
      request_id: null,
    })
    await send([begun(1), { ...begun(0), body: {} }, begun(2)])
    await eventually(() => seen.length === 2)
    expect(seen).toEqual(['1', '2'])
    expect(harness.said('an event was not handled and is dropped')).toBe(2)
  })
})

test.each([
  ['fewer parts than it says', '{"message_id":"a"}\n{}\n'],
  ['no end', '{"message_id":"a"}\n{}\n{"message_id":"b"}\n{}'],
  ['a part without id', '{"message_id":"a"}\n{}\n{}\n{}\n'],
  ['no JSON before a part', '{"message_id":"a"}\n{}\nb\n{}\n'],
  ['nothing', ''],
])('a batch with %s becomes a dead letter with unchanged content', async (_name, content) => {
  let calls = 0
  await broker.consume('executor.commands', { prefetch: 1, handle: async () => void calls++ })
  const [batch] = batchesOf([removeInstance(), removeInstance()])
  const { exchange, routingKey, options } = encodeBatch(batch as Batch, namespace)
  ;(await harness.channel()).publish(exchange, routingKey, Buffer.from(content), options)
  const [letter] = await deadLetters(1)
  // The broker acknowledges the batch after it has published the dead letter.
  await broker.stopConsuming()
  expect(letter?.content.toString()).toBe(content)
  expect(letter?.properties.headers?.[HEADER.reason]).toMatch(/^(the batch|a part of the batch) /)
  expect(calls).toBe(0)
})
