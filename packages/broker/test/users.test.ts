import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { serviceUrlVariable, sleep, uuidv7 } from '@slipway/runtime'
import { type Channel, type ChannelModel, connect } from 'amqplib'
import { BROKER_USERS, type BrokerUser, definitionsOf } from '../src/index.ts'
import { eventually, Harness, removeInstance } from './harness.ts'

const harness = new Harness()
const connections: ChannelModel[] = []

/** The RabbitMQ servers that scripts/infra.sh starts have these users. */
function urlOf(user: BrokerUser): string {
  const variable = serviceUrlVariable('RABBITMQ_URL', user)
  const url = process.env[variable]
  if (!url) throw new Error(`${variable} is not set: run \`make build\` and \`scripts/infra.sh up\``)
  return url
}

async function connectionOf(user: BrokerUser): Promise<ChannelModel> {
  const model = await connect(urlOf(user))
  model.on('error', () => {})
  connections.push(model)
  return model
}

afterAll(async () => {
  await Promise.all(connections.map((model) => model.close().catch(() => {})))
  await harness.remove()
})

test('services wait until the dispatcher declares the queues, then work together, each with its own user', async () => {
  const early = harness.broker({ url: urlOf('gateway'), name: 'gateway' })
  const logStreamEarly = harness.broker({ url: urlOf('log-stream'), name: 'log-stream' })
  await eventually(() => harness.lines.some(({ reason }) => String(reason).includes('the dispatcher declares it')))
  await harness.broker({ url: urlOf('dispatcher'), name: 'dispatcher' })
  const [gateway, logStream] = await Promise.all([early, logStreamEarly])
  const bridge = await harness.broker({ url: urlOf('executor-bridge'), name: 'executor-bridge' })

  const heard: string[] = []
  for (const reader of [logStream, bridge]) {
    await reader.consumeEventsExclusively(['target.*'], async ({ type }) => {
      heard.push(type)
    })
  }
  let tries = 0
  await bridge.consume('executor.commands', {
    prefetch: 1,
    async handle(envelope, { replyTo, correlationId }) {
      tries += 1
      if (tries === 1) throw new Error('fails once, and waits in a queue of delayed messages')
      if (envelope.body && tries === 2)
        bridge.reply(replyTo, correlationId, { ok: true, result: { instance_id: uuidv7() } })
    },
  })
  const { type, body } = removeInstance()
  const answer = await gateway.request('instance.delete', body as never, { request_id: null, timeoutMs: 10_000 })
  expect({ type, answer }).toMatchObject({ type: 'instance.delete', answer: { ok: true } })

  const event = { target_id: uuidv7(), tenant_id: null }
  await gateway.publish([
    { exchange: 'events', type: 'target.updated', body: event, message_id: uuidv7(), request_id: null },
  ])
  await eventually(() => heard.length === 2)
  // No service logged the warning that its user has too many rights.
  expect(harness.lines.filter(({ message }) => String(message).includes('may declare and delete'))).toEqual([])
})

test('a consumer waits for its queue as long as the dispatcher is away', async () => {
  const early = new Harness()
  const bridge = early.connecting({ url: urlOf('executor-bridge'), name: 'executor-bridge', vanishedMs: 300 })
  const consuming = bridge.consume('executor.commands', { prefetch: 1, handle: async () => {} })
  await eventually(() => early.said('cannot consume, trying again') > 0)
  await sleep(500)
  expect(early.fatal).toEqual([])
  await early.broker({ url: urlOf('dispatcher'), name: 'dispatcher' })
  await consuming
  await early.remove()
})

describe('RabbitMQ refuses', () => {
  beforeAll(async () => {
    await harness.broker({ url: urlOf('dispatcher'), name: 'dispatcher' })
  })

  const name = (rest: string) => `${harness.namespace}.${rest}`
  const publish = async (model: ChannelModel, exchange: string, key: string) => {
    const channel = await model.createConfirmChannel()
    const failed = new Promise<never>((_resolve, reject) => channel.on('error', reject))
    channel.publish(exchange, key, Buffer.from('{}'))
    await Promise.race([channel.waitForConfirms(), failed])
  }
  const onChannel = (work: (channel: Channel) => Promise<unknown>) => async (model: ChannelModel) => {
    const channel = await model.createChannel()
    channel.on('error', () => {})
    await work(channel)
  }
  const deleteQueue = onChannel((channel) => channel.deleteQueue(name('dispatcher.commands')))
  const purge = onChannel((channel) => channel.purgeQueue(name('dispatcher.events')))
  const read = (queue: string) => onChannel((channel) => channel.get(name(queue)))
  const to =
    (exchange: string, key = '') =>
    (model: ChannelModel) =>
      publish(model, name(exchange), key)
  const direct = (model: ChannelModel) => publish(model, '', name('dispatcher.commands'))
  const declare = onChannel((channel) => channel.assertQueue(name('another'), { durable: false, autoDelete: true }))
  const listen = onChannel(async (channel) => {
    const { queue } = await channel.assertQueue('', { exclusive: true })
    await channel.bindQueue(queue, name('events'), '#')
  })

  const CASES: [BrokerUser, string, (model: ChannelModel) => Promise<unknown>][] = [
    ['gateway', 'to read the commands of the planner', read('planner.commands')],
    ['gateway', 'to read dead letters', read('dead-letters')],
    ['gateway', 'to send to any queue by name', direct],
    ['gateway', 'to listen to events', listen],
    ['gateway', 'to delete a queue', deleteQueue],
    ['gateway', 'to declare a queue', declare],
    ['planner', 'to publish events', to('events', 'deployment.updated')],
    ['planner', 'to read the commands of the dispatcher', read('dispatcher.commands')],
    ['planner', 'to read events', read('dispatcher.events')],
    ['planner', 'to empty a queue', purge],
    ['planner', 'to delete a queue', deleteQueue],
    ['dispatcher', 'to declare a queue of another name', declare],
    ['dispatcher', 'to publish to an exchange that is not ours', (model) => publish(model, 'amq.direct', '')],
    ['executor-bridge', 'to send commands', to('commands', 'dispatcher.commands')],
    ['executor-bridge', 'to read the commands of the dispatcher', read('dispatcher.commands')],
    ['executor-bridge', 'to delete a queue', deleteQueue],
    ['executor-bridge', 'to listen in a queue of another name', listen],
    ['log-stream', 'to send commands', to('commands', 'dispatcher.commands')],
    ['log-stream', 'to publish events', to('events', 'deployment.updated')],
    ['log-stream', 'to send to any queue by name', direct],
    ['log-stream', 'to bury messages', to('dead')],
    ['log-stream', 'to read commands', read('dispatcher.commands')],
    ['log-stream', 'to delete a queue', deleteQueue],
  ]
  test.each(CASES)('the %s %s', async (user, _what, attack) => {
    await expect(attack(await connectionOf(user))).rejects.toMatchObject({ code: 403 })
  })
})

test('all services work with one user, and each except the dispatcher logs a warning', async () => {
  const warned = () => harness.lines.filter(({ message }) => String(message).includes('may declare and delete')).length
  const before = warned()
  for (const name of BROKER_USERS) await harness.broker({ name })
  expect(warned() - before).toBe(BROKER_USERS.length - 1)
})

test('the definitions contain the users of the given addresses', () => {
  const environment = { RABBITMQ_URL_LOG_STREAM: 'amqp://slipway_log_stream:s%C3%A9cret@host/deploy%2Fment' }
  expect(definitionsOf(environment, 'slipway')).toEqual({
    users: [{ name: 'slipway_log_stream', password: 'sécret', tags: [] }],
    permissions: [
      {
        user: 'slipway_log_stream',
        vhost: 'deploy/ment',
        configure: '^(slipway\\.log-stream\\.events\\.[0-9a-f]+(\\.dropped)?)$',
        write: '^(slipway\\.(dropped)|slipway\\.log-stream\\.events\\.[0-9a-f]+(\\.dropped)?)$',
        read: '^(slipway\\.(events|dropped)|slipway\\.log-stream\\.events\\.[0-9a-f]+(\\.dropped)?)$',
      },
    ],
  })
  expect(() => definitionsOf({}, 'slipway')).toThrow('no address of a user is set')
})
