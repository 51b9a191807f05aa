import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals'
import { uuidv7 } from '@slipway/runtime'
import { startTcpProxy, type TcpProxy } from '@slipway/testing'
import { connect } from 'amqplib'
import { type Broker, BrokerUnavailable, connectBroker, PublishError, queueName } from '../src/index.ts'
import { eventually, Harness, RABBITMQ_URL, recordedLogger, removeInstance } from './harness.ts'

const harness = new Harness()
let proxy: TcpProxy
let broker: Broker

beforeEach(async () => {
  proxy = await startTcpProxy(RABBITMQ_URL)
  broker = await harness.broker({ url: proxy.url })
})
afterEach(async () => {
  proxy.refuse(false)
  proxy.resume()
  await harness.closeBrokers()
  await proxy.close()
  await (await harness.channel()).purgeQueue(queueName(harness.namespace, 'executor.commands'))
})
afterAll(() => harness.remove())

const outcome = (work: Promise<unknown>) =>
  work.then(
    () => 'done' as const,
    (error: unknown) => error,
  )

test('a connection lost in the middle of a publish fails it; later ones work', async () => {
  proxy.onSent((bytes) => {
    if (bytes.includes('the-last-straw')) proxy.cut()
  })
  const messages = Array.from({ length: 600 }, (_, index) =>
    removeInstance({ reason: index === 300 ? 'the-last-straw' : 'asked' }),
  )
  const error = await outcome(broker.publish(messages))
  proxy.onSent(() => {})
  expect(error).toBeInstanceOf(PublishError)
  const failed = new Set((error as PublishError).failures.map((failure) => failure.message_id))
  expect(failed.size).toBeGreaterThan(0)

  // Nothing that was reported as sent is lost.
  await eventually(() => broker.isUp())
  const seen = new Set<string>()
  await broker.consume('executor.commands', {
    prefetch: 100,
    handle: async ({ message_id }) => void seen.add(message_id),
  })
  const last = removeInstance()
  await broker.publish([last])
  await eventually(() => seen.has(last.message_id))
  for (const { message_id } of messages) expect(failed.has(message_id) || seen.has(message_id)).toBe(true)
})

test('consumers are there again after a loss, and what was in hand comes again', async () => {
  const seen: { id: string; redelivered: boolean }[] = []
  const told: string[] = []
  let broken = false
  await broker.consume('executor.commands', {
    prefetch: 1,
    handle: async ({ message_id }, { redelivered }) => {
      seen.push({ id: message_id, redelivered })
      if (broken) return
      broken = true
      proxy.cut()
      await eventually(() => !broker.isUp())
    },
  })
  const events: string[] = []
  await broker.consumeEventsExclusively(['target.*'], async ({ type }) => void events.push(type), {
    onLost: () => told.push('lost'),
    onResumed: () => told.push('resumed'),
  })
  const message = removeInstance()
  await broker.publish([message])
  await eventually(() => seen.length === 2)
  expect(seen).toEqual([
    { id: message.message_id, redelivered: false },
    { id: message.message_id, redelivered: true },
  ])
  await eventually(() => broker.isUp())
  expect(told).toEqual(['lost', 'resumed'])
  const body = { target_id: uuidv7(), tenant_id: null }
  await broker.publish([{ exchange: 'events', type: 'target.created', body, message_id: uuidv7(), request_id: null }])
  await eventually(() => events.length === 1)
  expect(harness.fatal).toEqual([])
})

test('a consumer whose queue was deleted subscribes again', async () => {
  const seen: string[] = []
  await broker.consume('executor.commands', {
    prefetch: 1,
    handle: async ({ message_id }) => void seen.push(message_id),
  })
  const gone = 'RabbitMQ cancelled a consumer, subscribing again'
  expect(harness.said(gone)).toBe(0)
  await (await harness.channel()).deleteQueue(queueName(harness.namespace, 'executor.commands'))
  await eventually(() => harness.said(gone) === 1)
  await eventually(() => broker.isUp())
  const message = removeInstance()
  await broker.publish([message])
  await eventually(() => seen.includes(message.message_id))
})

test('a waiting question fails when the connection is lost: its answer cannot come', async () => {
  const body = {
    pending_request_id: uuidv7(),
    caller: { user_id: uuidv7(), username: 'ada', tenant_id: null, roles: [], ip: '127.0.0.1' },
  }
  const channel = await harness.channel()
  const queue = queueName(harness.namespace, 'dispatcher.commands')
  const asked = outcome(broker.request('pending.cancel', body, { timeoutMs: 25_000, request_id: null }))
  await eventually(async () => (await channel.checkQueue(queue)).messageCount === 1)
  proxy.cut()
  const error = await asked
  expect(error).toBeInstanceOf(BrokerUnavailable)
  expect((error as BrokerUnavailable).mayHaveBeenSent).toBe(true)
  await channel.purgeQueue(queue)
})

test('a broker that is silent is not up, and is again when it speaks', async () => {
  proxy.freeze()
  await eventually(() => !broker.isUp())
  proxy.resume()
  await eventually(() => broker.isUp())
  await broker.publish([removeInstance()])
})

test('while there is no connection, nothing is sent and it says so', async () => {
  proxy.refuse(true)
  await eventually(() => !broker.isUp())
  // The two connections are not lost at the same moment: until this one is, the outcome is unknown.
  const failures: unknown[] = []
  await eventually(
    async () =>
      failures.push(await outcome(broker.publish([removeInstance()]))) > 0 &&
      failures.at(-1) instanceof BrokerUnavailable,
  )
  expect(failures).not.toContain('done')
  expect((failures.at(-1) as BrokerUnavailable).mayHaveBeenSent).toBe(false)
  proxy.refuse(false)
  await eventually(() => broker.isUp())
  await broker.publish([removeInstance()])
})

test('without RabbitMQ it waits, says what is wrong without the password, and connects when RabbitMQ comes', async () => {
  proxy.refuse(true)
  const { logger, lines } = recordedLogger()
  const url = new URL(proxy.url)
  const options = { url: url.href, namespace: harness.namespace, name: 'test', logger, onFatal: () => {} }
  const waiting = connectBroker(options)
  await eventually(() => lines.some((line) => String(line['message']).includes('trying again')))
  expect(waiting.isUp()).toBe(false)
  expect(await outcome(waiting.publish([removeInstance()]))).toBeInstanceOf(BrokerUnavailable)
  expect(url.password).not.toBe('')
  expect(JSON.stringify(lines)).not.toContain(url.password)
  proxy.refuse(false)
  await waiting.connected()
  expect(waiting.isUp()).toBe(true)
  await waiting.close()
})

test('while it connects, a close waits for nothing', async () => {
  proxy.freeze()
  const { logger } = recordedLogger()
  const waiting = connectBroker({
    url: proxy.url,
    namespace: harness.namespace,
    name: 'test',
    logger,
    onFatal: () => {},
  })
  await waiting.close()
  proxy.resume()
})

test('queues of the same name with other properties are fatal, with what to do', async () => {
  const model = await connect(RABBITMQ_URL)
  const channel = await model.createChannel()
  const namespace = `${harness.namespace}-other`
  await channel.assertExchange(`${namespace}.commands`, 'fanout', { durable: true })
  const { logger } = recordedLogger()
  let broker: Broker | undefined
  const error = await new Promise<Error>((onFatal) => {
    broker = connectBroker({ url: RABBITMQ_URL, namespace, name: 'test', logger, onFatal })
  })
  await broker?.close()
  await channel.deleteExchange(`${namespace}.commands`)
  await model.close()
  expect(error.message).toContain('SLIPWAY_NAMESPACE')
})
