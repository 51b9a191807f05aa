import { createRequire } from 'node:module'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Broker, connectBroker, deleteTopology } from '@slipway/broker'
import { uuidv7 } from '@slipway/runtime'
import { wakeByEvents } from '../src/streams/wake.ts'
import { numbered, TestDeployment } from './deployment.ts'
import { logger, makeDatabase, startStreams, type TestDatabase, type TestStreams, until } from './setup.ts'
import { SseClient } from './sse.ts'

const url = process.env['RABBITMQ_URL'] ?? ''

let db: TestDatabase
let streams: TestStreams
let broker: Broker

beforeAll(async () => {
  db = await makeDatabase()
  streams = await startStreams({ database: db.database, resyncMs: 3_600_000 })
  broker = await connectBroker({ url, namespace: streams.namespace, name: 'log-stream', logger, onFatal: () => {} })
  await wakeByEvents(broker, streams.hubs, streams.guard)
})

afterAll(async () => {
  await broker?.close()
  await removeQueues(streams.namespace)
  await streams?.close()
  await db?.drop()
})

async function removeQueues(namespace: string): Promise<void> {
  const fromBroker = createRequire(path.resolve(import.meta.dirname, '../../../packages/broker/package.json'))
  const { connect } = fromBroker('amqplib') as {
    connect(url: string): Promise<{
      createChannel(): Promise<Parameters<typeof deleteTopology>[0]>
      close(): Promise<void>
    }>
  }
  const model = await connect(url)
  await deleteTopology(await model.createChannel(), namespace)
  await model.close()
}

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
