import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Broker, connectBroker } from '@slipway/broker'
import { uuidv7 } from '@slipway/runtime'
import {
  testLogger as logger,
  type OpenTestDatabase,
  openTestDatabase,
  serverUrl,
  startTcpProxy,
  type TcpProxy,
  waitFor,
} from '@slipway/testing'
import { wakeByEvents } from '../src/events/handler.ts'
import { numbered, TestDeployment } from './deployment.ts'
import { startStreams, type TestStreams, until } from './setup.ts'
import { SseClient } from './sse.ts'

let db: OpenTestDatabase
let streams: TestStreams
let broker: Broker
let proxy: TcpProxy

beforeAll(async () => {
  db = await openTestDatabase()
  streams = await startStreams({ database: db.database, resyncMs: 3_600_000 })
  proxy = await startTcpProxy(serverUrl('RABBITMQ_URL'))
  broker = connectBroker({
    url: proxy.url,
    namespace: streams.namespace,
    name: 'log-stream',
    logger,
    onFatal: () => {},
  })
  await wakeByEvents(broker, streams)
})

afterAll(async () => {
  await broker?.close()
  await proxy?.close()
  await streams?.close()
  await db?.drop()
})

test('deployment.updated ends the stream without waiting for the next resync', async () => {
  const deployment = await TestDeployment.create(db.database)
  const client = await SseClient.open(streams, deployment.id, await streams.token())
  await until(() => client.all('progress').length > 0, 'the opening')
  await deployment.commit({ lines: numbered(0, 2) })
  await deployment.end('success')
  await broker.publish([
    {
      exchange: 'events',
      type: 'deployment.updated',
      body: { deployment_id: deployment.id, tenant_id: null, state: 'success' },
      message_id: uuidv7(),
      request_id: null,
    },
  ])
  await until(() => client.ended, 'the end')
  expect(client.lines).toEqual(['line 0', 'line 1'])
})

test('change streams end with the connection to RabbitMQ, and log streams do not', async () => {
  const url = async () =>
    `${streams.url}/api/v1/sse/freezes?sse_token=${await streams.token({ permissions: ['freezes:read'] })}`
  const client = await SseClient.openAt(await url())
  await until(() => client.messages.length > 0, 'the ping')
  const deployment = await TestDeployment.create(db.database)
  const watcher = await SseClient.open(streams, deployment.id, await streams.token())
  proxy.refuse(true)
  await until(() => client.broken, 'the end of the stream')
  expect((await fetch(await url())).status).toBe(503)
  proxy.refuse(false)
  const again = await waitFor(async () => SseClient.openAt(await url()), { what: 'the stream to open again' })
  const freeze_id = uuidv7()
  const body = { freeze_id, tenant_id: null }
  await waitFor(
    () =>
      broker
        .publish([{ exchange: 'events', type: 'freeze.deleted', body, message_id: uuidv7(), request_id: null }])
        .then(() => true),
    { what: 'the publisher to be back' },
  )
  await until(() => again.changes.some(({ id, type }) => id === freeze_id && type === 'deleted'), 'the change')
  expect([watcher.broken, watcher.ended]).toEqual([false, false])
  watcher.close()
  again.close()
})
