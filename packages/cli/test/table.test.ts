import { describe, expect, test } from '@jest/globals'
import { formatCells, formatTime, showTime } from '../src/terminal/table.ts'
import { useTimeZone } from './time-zone.ts'

describe.each([
  ['Europe/Berlin', '2026-07-01 14:30 +02:00'],
  ['America/St_Johns', '2026-07-01 10:00 -02:30'],
  ['UTC', '2026-07-01 12:30 UTC'],
])('in the zone %s', (zone, expected) => {
  useTimeZone(zone)

  test('times are local', () => {
    expect(formatTime('2026-07-01T12:30:00Z')).toBe(expected)
    // The API gives the times of pending requests in this form.
    expect(formatTime('2026-07-01 12:30:00')).toBe(expected)
  })
})

describe('a column of times', () => {
  useTimeZone('UTC')
  const showAll = (...times: (string | null)[]) => formatCells(times.map(showTime))

  test('has seconds only if rows have the same minute', () => {
    expect(showAll('2026-07-01T12:30:05Z', '2026-07-01T12:31:05Z', null)).toEqual([
      '2026-07-01 12:30 UTC',
      '2026-07-01 12:31 UTC',
      '-',
    ])
    expect(showAll('2026-07-01T12:30:05Z', '2026-07-01T12:30:09Z')).toEqual([
      '2026-07-01 12:30:05 UTC',
      '2026-07-01 12:30:09 UTC',
    ])
  })
})
