import { describe, expect, test } from '@jest/globals'
import { formatTime } from '../src/terminal/table.ts'
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
