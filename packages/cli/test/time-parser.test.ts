import { expect, test } from '@jest/globals'
import { parseTime } from '../src/commands/times.ts'
import { useTimeZone } from './time-zone.ts'

useTimeZone('Europe/Berlin')
const NOW = new Date('2026-02-01T12:30:00+01:00')

const BOTH: [string, string][] = [
  ['now', '2026-02-01T11:30:00.000Z'],
  ['+2h', '2026-02-01T13:30:00.000Z'],
  ['today', '2026-02-01T00:00:00+01:00'],
  ['yesterday', '2026-01-31T00:00:00+01:00'],
  ['tomorrow 02:00', '2026-02-02T02:00:00+01:00'],
  ['2026-07-31', '2026-07-31T00:00:00+02:00'],
  ['2026-07-31 09:00', '2026-07-31T09:00:00+02:00'],
  ['2026-07-31T09:00:30', '2026-07-31T09:00:30+02:00'],
  ['2026-07-31T09:00Z', '2026-07-31T09:00:00Z'],
  ['2026-07-31 09:00-05:00', '2026-07-31T09:00:00-05:00'],
]

test.each([
  ...BOTH,
  ['2h', '2026-02-01T09:30:00.000Z'],
  ['12:00', '2026-02-01T12:00:00+01:00'],
  ['14:30', '2026-01-31T14:30:00+01:00'],
])('in the past, %s is %s', (text, time) => {
  expect(parseTime(text, 'past', NOW)).toBe(time)
})

test.each([...BOTH, ['14:30', '2026-02-01T14:30:00+01:00'], ['9:00', '2026-02-02T09:00:00+01:00']])(
  'in the future, %s is %s',
  (text, time) => {
    expect(parseTime(text, 'future', NOW)).toBe(time)
  },
)

test.each([
  ['2h', 'write +2h for after now'],
  ['in 2 hours', 'Write it as +2h'],
  ['01/02/2026', 'Write it as +2h'],
  ['14:30pm', 'Write it as +2h'],
  ['24:00', 'Write it as +2h'],
  ['tomorrow 02:00 UTC', 'Write it as +2h'],
  ['+999999999d', 'Write it as +2h'],
  ['2026-02-30', 'There is no day 2026-02-30'],
  ['2026-02-30T09:00:00Z', 'is no time that exists'],
  ['2026-03-29 02:30', 'leaves out 02:30 on that day'],
  ['2026-10-25 02:30', 'shows 02:30 twice on that day'],
])('%s is refused', (text, message) => {
  expect(() => parseTime(text, 'future', NOW)).toThrow(message)
})
