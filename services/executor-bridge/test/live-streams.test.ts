import { expect, test } from '@jest/globals'
import { exposition } from '@slipway/runtime'
import { connectRedis } from '@slipway/runtime/redis'
import { parseMetrics, testLogger } from '@slipway/testing'
import { createLiveStreams } from '../src/live-streams.ts'

const failures = async () => parseMetrics((await exposition()).text).value('slipway_live_failures_total')

test('a batch that cannot be published to Redis throws no error and is counted', async () => {
  const before = (await failures()) ?? 0
  const redis = connectRedis({ url: 'redis://127.0.0.1:1', name: 'test', logger: testLogger })
  const live = createLiveStreams(redis, 'test', testLogger)
  const batch = {
    epoch: 1,
    first_event: 0,
    next_event: 1,
    first_line: 0,
    lines: [],
    steps: [],
  }
  await live.publish('01a1ffba-aada-76dd-b5f8-679760b9e2da', {
    ...batch,
    completed_steps: 0,
    ended_steps: 0,
    total_steps: 1,
  })
  expect(await failures()).toBe(before + 1)
  redis.disconnect()
})
