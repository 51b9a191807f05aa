import { afterAll, expect, test } from '@jest/globals'
import { uuidv7 } from '@slipway/runtime'
import { handleEvents } from '../src/index.ts'
import { eventually, Harness, removeInstance } from './harness.ts'

const harness = new Harness()
afterAll(() => harness.remove())

test('a message without a handler becomes a dead letter with the reason, and the next one is handled', async () => {
  const woken: string[] = []
  const broker = await harness.broker()
  const nothing = () => {}
  await broker.consume('dispatcher.events', {
    prefetch: 1,
    handle: handleEvents<'dispatcher'>({
      'run.rolling_back': nothing,
      'run.finished': nothing,
      'run.declined': nothing,
      'run.stopped': nothing,
      'instance.created': nothing,
      'instance.updated': nothing,
      'instance.deleted': nothing,
      'freeze.created': nothing,
      'freeze.updated': nothing,
      'freeze.deleted': nothing,
      'target.moved': nothing,
      'rules.changed': nothing,
      'slot.freed': ({ instance_id }) => void woken.push(instance_id),
    }),
  })
  const channel = await harness.channel()
  // A command message in a queue of event messages.
  const { type, body, message_id } = removeInstance()
  channel.sendToQueue(`${harness.namespace}.dispatcher.events`, Buffer.from(JSON.stringify(body)), {
    type,
    messageId: message_id,
  })
  const instance_id = uuidv7()
  await broker.publish([
    { exchange: 'events', type: 'slot.freed', body: { instance_id }, message_id: uuidv7(), request_id: null },
  ])
  await eventually(() => woken.includes(instance_id))
  await eventually(async () => (await channel.checkQueue(`${harness.namespace}.dead-letters`)).messageCount === 1)
  const letter = await channel.get(`${harness.namespace}.dead-letters`, { noAck: true })
  expect(letter).toMatchObject({
    properties: { headers: { 'x-slipway-reason': 'there is no handler for instance.delete here' } },
  })
})
