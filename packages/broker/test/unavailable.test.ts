import { afterAll, afterEach, expect, test } from '@jest/globals'
import { sleep } from '@slipway/runtime'
import { type Broker, queueName } from '../src/index.ts'
import { eventually, Harness, removeInstance } from './harness.ts'

const harness = new Harness()
const { namespace } = harness
const QUEUE = 'executor.commands'

/** The error of an unavailable dependency of a handler. */
class Away extends Error {}

afterEach(async () => {
  await harness.closeBrokers()
  const channel = await harness.channel()
  for (const queue of [QUEUE, 'dead-letters', 'retry.5s'] as const)
    await channel.purgeQueue(queueName(namespace, queue))
})
afterAll(() => harness.remove())

const open = (options: { handlerMs?: number } = {}) =>
  harness.broker({ isUnavailable: (error) => error instanceof Away, ...options })

const waiting = async (queue: 'dead-letters' | 'retry.5s' | typeof QUEUE) =>
  (await (await harness.channel()).checkQueue(queueName(namespace, queue))).messageCount

/** Moves the messages of `retry.5s` back to the work queue, as RabbitMQ does after 5 s. */
async function endRetryDelay(): Promise<void> {
  const channel = await harness.channel()
  for (;;) {
    const message = await channel.get(queueName(namespace, 'retry.5s'))
    if (message === false) return
    channel.sendToQueue(queueName(namespace, QUEUE), message.content, message.properties)
    channel.ack(message)
  }
}

async function consume(broker: Broker, prefetch: number, isAway: () => boolean) {
  const tried = new Map<string, { tries: number; attempt: number; redelivered: boolean }>()
  const done = new Set<string>()
  await broker.consume(QUEUE, {
    prefetch,
    handle: async ({ message_id }, { attempt, redelivered }) => {
      tried.set(message_id, { tries: (tried.get(message_id)?.tries ?? 0) + 1, attempt, redelivered })
      if (isAway()) throw new Away('it is away')
      done.add(message_id)
    },
  })
  return { tried, done }
}

test('an unavailable dependency counts no attempt, and the message is handled when it is back', async () => {
  const broker = await open()
  let isAway = true
  const { tried, done } = await consume(broker, 3, () => isAway)
  const messages = Array.from({ length: 6 }, () => removeInstance())
  await broker.publish(messages)
  await eventually(() => [...tried.values()].some(({ tries }) => tries > 1))
  // Held messages stay within the prefetch limit, so no other message is handled.
  expect(tried.size).toBe(3)
  isAway = false
  await eventually(() => done.size === messages.length)
  for (const { attempt, redelivered } of tried.values()) expect([attempt, redelivered]).toEqual([1, false])
  expect(await waiting('dead-letters')).toBe(0)
})

test('a failure of the message itself counts as an attempt', async () => {
  const broker = await open()
  const attempts: number[] = []
  await broker.consume(QUEUE, {
    prefetch: 1,
    handle: async (_, { attempt }) => {
      attempts.push(attempt)
      if (attempts.length === 1) throw new Away('it is away')
      if (attempts.length === 2) throw new Error('it is wrong')
    },
  })
  await broker.publish([removeInstance()])
  await eventually(() => attempts.length === 3)
  expect(attempts).toEqual([1, 1, 2])
})

test('a consumer that stops returns its held messages without counting an attempt', async () => {
  const broker = await open()
  const { tried } = await consume(broker, 2, () => true)
  await broker.publish([removeInstance(), removeInstance()])
  await eventually(() => tried.size === 2)
  await broker.stopConsuming()
  expect(await waiting('retry.5s')).toBe(2)
  await endRetryDelay()

  const next = await consume(await open(), 2, () => false)
  await eventually(() => next.done.size === 2)
  for (const { attempt, redelivered } of next.tried.values()) expect([attempt, redelivered]).toEqual([1, false])
})

test('a handler that never ends times out: its message is retried, and other messages are handled', async () => {
  const broker = await open({ handlerMs: 500 })
  const seen: [string, number][] = []
  const hanging = removeInstance()
  await broker.consume(QUEUE, {
    prefetch: 1,
    handle: async ({ message_id }, { attempt }) => {
      seen.push([message_id, attempt])
      if (message_id === hanging.message_id && attempt === 1) await new Promise(() => {})
    },
  })
  const other = removeInstance()
  await broker.publish([hanging, other])
  await eventually(() => seen.length === 3)
  expect(seen).toEqual([
    [hanging.message_id, 1],
    [other.message_id, 1],
    [hanging.message_id, 2],
  ])
  await sleep(50)
  expect(await waiting('dead-letters')).toBe(0)
})
