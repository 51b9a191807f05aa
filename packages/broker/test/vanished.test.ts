import { afterAll, describe, expect, test } from '@jest/globals'
import { type Handler, queueName } from '../src/index.ts'
import { declareExclusiveQueue, declareTopology, exchangeName } from '../src/topology.ts'
import { eventually, Harness, removeInstance } from './harness.ts'

const harness = new Harness()
afterAll(() => harness.remove())

describe('a queue that cannot be consumed on a working connection', () => {
  const queue = queueName(harness.namespace, 'executor.commands')
  /** Makes a queue of the same name with other properties: the declaration of the broker fails. */
  const spoil = async () => {
    const channel = await harness.channel()
    await channel.deleteQueue(queue)
    await channel.assertQueue(queue, { durable: true })
  }
  const repair = async () => (await harness.channel()).deleteQueue(queue)

  async function consume(vanishedMs: number) {
    const broker = await harness.broker({ vanishedMs })
    const seen: string[] = []
    const handle: Handler = async ({ message_id }) => void seen.push(message_id)
    await broker.consume('executor.commands', { prefetch: 1, handle })
    return { broker, seen }
  }

  test('is consumed again when it is back in time', async () => {
    const { broker, seen } = await consume(60_000)
    await spoil()
    await eventually(() => harness.said('cannot consume, trying again') > 0)
    expect(broker.isUp()).toBe(false)
    await repair()
    await eventually(() => broker.isUp())
    expect(harness.fatal).toEqual([])
    const message = removeInstance()
    await broker.publish([message])
    await eventually(() => seen.includes(message.message_id))
    await broker.close()
  })

  test('is fatal after some time', async () => {
    await consume(300)
    await spoil()
    await eventually(() => harness.fatal.length > 0)
    expect(harness.fatal[0]?.message).toContain(`${queue} could not be consumed for 300 ms`)
    await repair()
  })
})

test('a full queue of event messages drops the oldest, and its reader can detect the loss', async () => {
  const channel = await harness.channel()
  await declareTopology(channel, harness.namespace)
  const name = `${harness.namespace}.events.full`
  const { dropped } = await declareExclusiveQueue(channel, {
    namespace: harness.namespace,
    name,
    routingKeys: ['target.*'],
    maxEvents: 3,
  })
  const publish = (n: number) =>
    channel.publish(exchangeName(harness.namespace, 'events'), 'target.updated', Buffer.from(String(n)))
  for (const n of [1, 2, 3]) publish(n)
  await eventually(async () => (await channel.checkQueue(name)).messageCount === 3)
  expect((await channel.checkQueue(dropped)).messageCount).toBe(0)
  for (const n of [4, 5]) publish(n)
  await eventually(async () => (await channel.checkQueue(dropped)).messageCount === 1)
  const oldest = await channel.get(name, { noAck: true })
  expect(oldest).toMatchObject({ content: Buffer.from('3') })
})
