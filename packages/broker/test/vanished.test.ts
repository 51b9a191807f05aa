import { afterAll, expect, test } from '@jest/globals'
import { sleep } from '@slipway/runtime'
import { queueName } from '../src/index.ts'
import { declareExclusiveQueue, declareTopology, exchangeName } from '../src/topology.ts'
import { eventually, Harness, removeInstance } from './harness.ts'

const harness = new Harness()
afterAll(() => harness.remove())

test('a queue that cannot be consumed for some time on a working connection is fatal', async () => {
  const broker = await harness.broker()
  const channel = await harness.channel()
  const queue = queueName(harness.namespace, 'executor.commands')
  const spoil = async () => {
    await channel.deleteQueue(queue)
    await channel.assertQueue(queue, { durable: true })
  }
  const seen: string[] = []
  await broker.consume('executor.commands', {
    prefetch: 1,
    handle: async ({ message_id }) => void seen.push(message_id),
  })

  // A queue of the same name with other properties: the declaration of the broker fails.
  await spoil()
  await eventually(() => harness.said('cannot consume, trying again') > 0)
  expect(broker.isUp()).toBe(false)
  // A clock that is set forward is no time that has passed. The broker looks each second.
  const { now } = Date
  Date.now = () => now() + 3_600_000
  await sleep(2_500)
  Date.now = now
  expect(harness.fatal).toEqual([])
  await channel.deleteQueue(queue)
  await eventually(() => broker.isUp())
  expect(harness.fatal).toEqual([])
  const message = removeInstance()
  await broker.publish([message])
  await eventually(() => seen.includes(message.message_id))

  await spoil()
  await eventually(() => harness.fatal.length > 0)
  expect(harness.fatal[0]?.message).toContain(queue)
  await channel.deleteQueue(queue)
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
