import { expect, test } from '@jest/globals'
import { measurePending } from '../src/pending/metrics.ts'
import { testDatabase } from './database.ts'
import { addInstance } from './fixtures.ts'
import { requestsOf } from './requests.ts'

const db = await testDatabase()
const { database } = db
const { submit } = requestsOf(db)

const zone = (value: string) => ({ match_labels: { zone: value } })

test('an empty queue gives zero pending requests in the pool any', async () => {
  expect(await measurePending(database)).toEqual({
    slipway_pending_requests: { any: 0 },
    slipway_pending_oldest_age_seconds: { any: 0 },
    slipway_pool_slots_taken: {},
    slipway_pending_requests_held: {},
    slipway_pending_open_oldest_age_seconds: 0,
  })
})

test('the metrics have the pending requests, their age and the taken slots of each pool', async () => {
  const a = await addInstance(database, 1)
  await database.query('UPDATE instances SET labels = $2 WHERE id = $1', [a, { zone: 'a' }])
  await submit({ selector: zone('a') })
  for (let n = 0; n < 3; n += 1) await submit({ selector: zone('a') })
  await submit({ selector: zone('b') })
  await submit()
  await database.query(
    `UPDATE pending_requests SET queued_at = now() - interval '1 hour' WHERE instance_selector @> '{"match_labels":{"zone":"b"}}'`,
  )
  const read = await measurePending(database)
  expect(read.slipway_pending_requests).toEqual({ 'zone=a': 3, 'zone=b': 1, any: 1 })
  expect(read.slipway_pool_slots_taken).toEqual({ 'zone=a': 1, 'zone=b': 0 })
  const ages = read.slipway_pending_oldest_age_seconds
  expect(ages['zone=b']).toBeGreaterThanOrEqual(3_600)
  expect(ages['zone=a']).toBeLessThan(3_600)
  // Nobody has started an instance of zone b. This is a reason of its own, and says nothing about the queue.
  expect(read.slipway_pending_requests_held).toEqual({ instance_pool: 1 })
  expect(read.slipway_pending_open_oldest_age_seconds).toBeLessThan(3_600)
})

test('the metrics have at most 52 pools; further ones are summed up as others', async () => {
  for (let n = 0; n < 60; n += 1) await submit({ selector: zone(`z${n}`) })
  await submit({ selector: zone('z1') })
  const { slipway_pending_requests: requests } = await measurePending(database)
  expect(Object.keys(requests)).toHaveLength(52)
  expect(requests['zone=z1']).toBe(2)
  expect(requests['others']).toBe(10)
})
