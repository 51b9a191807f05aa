import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { CommandClock } from '../src/runs/command-clock.ts'
import { eventually } from './support/wait.ts'

test('excused time does not count toward the timeout of a command', async () => {
  let isExcused = true
  let excusedMs = 0
  let timeouts = 0
  const clock = new CommandClock(
    10,
    () => {
      if (isExcused) excusedMs += 10
      return excusedMs
    },
    () => {
      timeouts += 1
    },
  )
  clock.start()
  const before = excusedMs
  await eventually('the time is extended twice', () => excusedMs >= before + 20)
  expect(timeouts).toBe(0)
  isExcused = false
  await eventually('the timeout', () => timeouts > 0)
})

test('a stopped clock has no timeout', async () => {
  let timeouts = 0
  const clock = new CommandClock(
    1,
    () => 0,
    () => {
      timeouts += 1
    },
  )
  clock.start()
  clock.stop()
  await delay(20)
  expect({ timeouts, isRunning: clock.isRunning }).toEqual({ timeouts: 0, isRunning: false })
})
