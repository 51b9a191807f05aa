// The grid of steps, and the parts of a log that is higher than an element can be.
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { cellAfter } from '../src/screens/deployment/grid-keys.ts'
import {
  arrange,
  batchSizeOf,
  cellOfStep,
  outlookOf,
  type Plan,
  type Step,
} from '../src/screens/deployment/grid-rows.ts'
import { gridWidths } from '../src/screens/deployment/grid-widths.ts'
import { cellOf, logContext } from '../src/screens/deployment/log-columns.ts'
import { lastPart, PART, placeAt } from '../src/screens/deployment/log-place.ts'
import type { LogLine } from '../src/screens/deployment/log-reads.ts'
import { indexOf, matchBeside } from '../src/screens/deployment/match-order.ts'

test('keys lead to a cell of the grid', () => {
  const size = { rows: 200, columns: 10, page: 20 }
  const after = (key: string, row: number, column: number, ctrlKey = false) =>
    cellAfter({ key, ctrlKey }, { row, column }, size)
  expect(after('ArrowDown', 3, 3)).toEqual({ row: 4, column: 3 })
  expect(after('ArrowUp', 0, 0)).toEqual({ row: 0, column: 0 })
  expect(after('PageDown', 190, 2)).toEqual({ row: 199, column: 2 })
  expect(after('Home', 7, 5)).toEqual({ row: 7, column: 0 })
  expect(after('End', 7, 5, true)).toEqual({ row: 199, column: 9 })
  expect(after('x', 1, 1)).toBeNull()
})

test('steps are arranged by target, and a state of the live stream counts more than the plan', () => {
  const step = (id: string, target: string, order: number, state: string) =>
    ({
      id,
      target_id: target,
      target_name: target,
      sequence_order: 0,
      action_order: order,
      action_name: `a${order}`,
      state,
    }) as Step
  const { rows, columns } = arrange([
    step('2', 'north', 1, 'pending'),
    step('1', 'north', 0, 'completed'),
    step('3', 'south', 0, 'pending'),
    step('4', 'south', 1, 'pending'),
  ])
  const outlooks = (live: Record<string, string>) =>
    rows.map((row) => outlookOf(row, { get: (id: string) => live[id] } as never))
  expect(columns.map(({ name }) => name)).toEqual(['a0', 'a1'])
  expect(rows.map(({ target, steps }) => [target, steps.map(({ id }) => id)])).toEqual([
    ['north', ['1', '2']],
    ['south', ['3', '4']],
  ])
  expect(outlooks({})).toEqual(['running', 'waiting'])
  expect(outlooks({ 2: 'skipped', 4: 'rollback_failed' })).toEqual(['done', 'failed'])
})

test('targets of a rolling deployment are in batches, in the order of the plan', () => {
  const steps = ['a', 'b', 'c', 'd', 'e'].flatMap((target) =>
    [0, 1].map((order) => ({
      id: `${target}${order}`,
      target_id: target,
      target_name: target,
      sequence_name: `part ${order}`,
      sequence_order: order,
      action_order: 0,
      action_name: 'go',
    })),
  ) as Step[]
  const { rows, columns } = arrange(steps, batchSizeOf({ rolling: { batch_size: 2 } }))
  expect(rows.map(({ batch }) => batch)).toEqual([1, 1, 2, 2, 3])
  expect(columns.map(({ sequence, isFirst }) => [sequence, isFirst])).toEqual([
    ['part 0', true],
    ['part 1', true],
  ])
  expect(cellOfStep(rows, 'c1')).toEqual({ row: 2, column: 1 })
  expect(cellOfStep(rows, 'x')).toBeNull()
  expect([batchSizeOf('parallel'), batchSizeOf({ rolling: { batch_size: 1 } })]).toEqual([null, null])
})

test('the grid uses its width: names stand upright only where columns would be too narrow', () => {
  const rows = [{ target: 'web-1', steps: [], batch: null }]
  const columns = (count: number) =>
    Array.from({ length: count }, () => ({ name: 'Migrate', sequence: '', isFirst: false }))
  expect(gridWidths(rows, columns(8), 1_000)).toEqual({ isDense: false, head: 28, target: 96 })
  expect(gridWidths(rows, columns(20), 1_000)).toMatchObject({ isDense: true, head: 80 })
  expect(gridWidths(rows, columns(2), 300)).toMatchObject({ isDense: false })
})

test('the way from match to match begins at the shown line, and goes on at the other end', () => {
  const lines = [3, 7, 8].map((number) => ({ number }))
  const beside = (number: number | null, step: 1 | -1) => matchBeside(lines, number, step)
  expect([beside(null, 1), beside(3, 1), beside(4, 1), beside(8, 1)]).toEqual([3, 7, 7, 3])
  expect([beside(null, -1), beside(8, -1), beside(4, -1), beside(3, -1)]).toEqual([8, 7, 3, 8])
  expect([indexOf(lines, 7), indexOf(lines, 6), indexOf(lines, null)]).toEqual([1, null, null])
  expect(matchBeside([], 1, 1)).toBeUndefined()
})

test('columns of a log show the time since the start, and the action of the step', () => {
  const plan = { steps: [{ id: 's', target_name: 'north', action_name: 'Build' }] } as Plan
  const context = logContext(plan, '2026-01-31T09:00:00.000Z', true)
  const line = { at: '2026-01-31T09:01:02.345Z', step: 's' } as LogLine
  expect(cellOf('seconds', line, context)).toBe('62.345')
  expect(cellOf('step', line, context)).toBe('Build')
  expect(cellOf('step', { ...line, step: null }, context)).toBe('')
  expect(context.targetLength).toBe(5)
})

test('each line of a log is in its part, far from both ends unless the log ends there, and the last part has the end', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (count, share) => {
      const row = Math.floor(share * (count - 1))
      const { part } = placeAt(row, count)
      const left = Math.min(PART, count - part)
      expect(row - part).toBeGreaterThanOrEqual(Math.min(row, PART / 4))
      expect(part + left - row).toBeGreaterThanOrEqual(Math.min(count - row, PART / 4))
      expect(count - lastPart(count)).toBeLessThanOrEqual(PART)
    }),
  )
  expect(lastPart(PART)).toBe(0)
})
