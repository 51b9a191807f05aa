import { expect, test } from '@jest/globals'
import { counter, exposition, histogram, measure } from '../src/index.ts'

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
