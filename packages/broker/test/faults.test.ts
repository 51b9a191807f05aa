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

test('a publish fails if its connection is lost, and later publishes succeed', async () => {
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

  // Every message that was reported as sent arrives.
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

test('consumers resume after a lost connection, and the unacknowledged message is redelivered', async () => {
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

test('a consumer subscribes again after its queue was deleted', async () => {
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

test('a request fails when the connection is lost, because its reply cannot arrive', async () => {
  const body = {
    pending_request_id: uuidv7(),
    caller: { user_id: uuidv7(), username: 'ada', tenant_id: null, may_override_freezes: true, ip: '127.0.0.1' },
  }
  const channel = await harness.channel()
  const queue = queueName(harness.namespace, 'dispatcher.commands')
  const asked = outcome(broker.request('pending.cancel', body, { timeoutMs: 10_000, request_id: null }))
  await eventually(async () => (await channel.checkQueue(queue)).messageCount === 1)
  proxy.cut()
  const error = await asked
  expect(error).toBeInstanceOf(BrokerUnavailable)
  expect((error as BrokerUnavailable).mayHaveBeenSent).toBe(true)
  await channel.purgeQueue(queue)
})

test('the broker is not up while RabbitMQ is silent, and is up when RabbitMQ answers again', async () => {
  proxy.freeze()
  await eventually(() => !broker.isUp())
  proxy.resume()
  await eventually(() => broker.isUp())
  await broker.publish([removeInstance()])
})

test('a publish without a connection fails and says that nothing was sent', async () => {
  proxy.refuse(true)
  await eventually(() => !broker.isUp())
  // The two connections end at different moments. A publish between them has an unknown outcome.
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

test('the broker waits for RabbitMQ, logs the error without the password, and connects when it starts', async () => {
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

test('a close during the connection attempt does not wait for it', async () => {
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

test('an exchange of the same name with other properties is fatal, and the error names the setting', async () => {
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
