import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Broker, connectBroker } from '@slipway/broker'
import { uuidv7 } from '@slipway/runtime'
import { testLogger as logger, type OpenTestDatabase, openTestDatabase, serverUrl } from '@slipway/testing'
import { wakeByEvents } from '../src/streams/wake.ts'
import { numbered, TestDeployment } from './deployment.ts'
import { startStreams, type TestStreams, until } from './setup.ts'
import { SseClient } from './sse.ts'

let db: OpenTestDatabase
let streams: TestStreams
let broker: Broker

beforeAll(async () => {
  db = await openTestDatabase()
  streams = await startStreams({ database: db.database, resyncMs: 3_600_000 })
  broker = await connectBroker({
    url: serverUrl('RABBITMQ_URL'),
    namespace: streams.namespace,
    name: 'log-stream',
    logger,
    onFatal: () => {},
  })
  await wakeByEvents(broker, streams)
})

afterAll(async () => {
  await broker?.close()
  await streams?.close()
  await db?.drop()
})

test('deployment.updated ends the stream without waiting for the next look', async () => {
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
