import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from '@jest/globals'
import { counter, exposition, histogram, measure, measureRequest } from '../src/index.ts'

const told = async (name: string) =>
  (await exposition()).text.split('\n').filter((line) => line.startsWith(name) && !line.startsWith('#'))

test('counters and histograms are exposed in the Prometheus format', async () => {
  const seen = counter('slipway_seen_total', 'Things that were seen', ['kind'])
  seen.inc({ kind: 'bird' })
  seen.inc({ kind: 'bird' }, 2)
  histogram('slipway_flight_seconds', 'How long they flew').observe(0.3)
  expect(await told('slipway_seen')).toEqual(['slipway_seen_total{kind="bird"} 3'])
  expect(await told('slipway_flight_seconds_bucket{le="0.25"}')).toEqual(['slipway_flight_seconds_bucket{le="0.25"} 0'])
  expect(await told('slipway_flight_seconds_bucket{le="0.5"}')).toEqual(['slipway_flight_seconds_bucket{le="0.5"} 1'])
  const { type, text } = await exposition()
  expect(type).toMatch(/^text\/plain; version=0\.0\.4/)
  expect(text).toContain('# TYPE slipway_seen_total counter')
})

test('a measurement runs once for concurrent scrapes, again for later ones, and is left out if it fails', async () => {
  let reads = 0
  let works = true
  measure('nest', { slipway_eggs: { help: 'Eggs' }, slipway_birds: { help: 'Birds', label: 'state' } }, async () => {
    reads += 1
    if (!works) throw new Error('nobody knows')
    return { slipway_eggs: reads, slipway_birds: reads === 1 ? { away: 2, home: 0 } : { home: 2 } }
  })
  const texts = await Promise.all([exposition(), exposition(), exposition()])
  expect(reads).toBe(1)
  expect(texts[2]?.text).toContain('slipway_birds{state="away"} 2')
  expect(await told('slipway_eggs')).toEqual(['slipway_eggs 2'])
  // A label value that the measurement no longer returns is not exposed.
  expect((await told('slipway_birds')).join()).not.toContain('away')

  works = false
  expect(await told('slipway_eggs')).toEqual([])
  expect(await told('slipway_birds')).toEqual([])
  expect(await told('slipway_measurements_failed_total{measurement="nest"')).toEqual([
    'slipway_measurements_failed_total{measurement="nest"} 3',
  ])
  works = true
  expect(await told('slipway_eggs')).toHaveLength(1)
})

test('requests are timed by route and status, and streams are not', async () => {
  const server = createServer((request, response) => {
    measureRequest(request, response, () => (request.url === '/nowhere' ? null : '/things/{id}'))
    if (request.url === '/stream') response.setHeader('content-type', 'text/event-stream; charset=utf-8')
    response.statusCode = request.url === '/nowhere' ? 404 : 200
    response.end('x')
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  // A method that no other test uses, because the counts belong to the whole process.
  const method = 'REPORT'
  for (const path of ['/things/1', '/things/2', '/nowhere', '/stream'])
    await (await fetch(base + path, { method })).text()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))

  const counts = await told('slipway_http_request_duration_seconds_count')
  expect(counts.filter((line) => line.includes(`method="${method}"`))).toEqual([
    'slipway_http_request_duration_seconds_count{method="REPORT",route="/things/{id}",status="200"} 2',
    'slipway_http_request_duration_seconds_count{method="REPORT",route="none",status="404"} 1',
  ])
})
