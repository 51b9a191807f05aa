// What tables compute: order, words of rows, stages, and acts on several records.
import { expect, test } from '@jest/globals'
import { changeWords, startedBy } from '../src/components/deployment-words.ts'
import { inBulk } from '../src/components/in-bulk.ts'
import { directionOf, nextSort, sortQuery } from '../src/components/sorting.ts'
import { movedPositions } from '../src/screens/environments/move.ts'
import { aheadOf, type Cell, environmentsOf, type Line, type Row } from '../src/screens/releases/matrix-layout.ts'

test('a click on a head sorts in its first direction, then in the other one, then as usual', () => {
  const clicks = (sort: string) => [undefined, sort, nextSort(sort, sort)].map((current) => nextSort(sort, current))
  expect(clicks('name')).toEqual(['name', '-name', undefined])
  expect(clicks('-created_at')).toEqual(['-created_at', 'created_at', undefined])
  expect(nextSort('name', '-created_at')).toBe('name')
  expect([
    directionOf('-created_at', 'created_at'),
    directionOf('name', '-name'),
    directionOf('name', 'names'),
  ]).toEqual(['ascending', 'descending', null])
  const asked = ['name', '-name', 'size', undefined]
  expect(asked.map((sort) => sortQuery(['name'], sort))).toEqual([{ sort: 'name' }, { sort: '-name' }, {}, {}])
})

test('a deployment says what it changed, on how many targets, and who started it', () => {
  const change = (previous_versions: string[], target_count = 6) =>
    changeWords({ solution_version: '1.5.0', previous_versions, target_count })
  expect(change(['1.4.0'])).toBe('1.4.0 → 1.5.0, 6 targets')
  expect(change(['1.5.0', '1.4.0', '1.3.0'], 1)).toBe('1.4.0, 1.3.0 → 1.5.0, 1 target')
  expect(change(['1.5.0'])).toBe('1.5.0 again, 6 targets')
  expect(change([])).toBe('6 targets')
  expect(startedBy({ triggered_by: 'ann', api_key_name: null })).toBe('ann')
  expect(startedBy({ triggered_by: 'ann', api_key_name: 'ci' })).toBe('key ci')
})

const cell = (name: string, position: number | null, ...versions: string[]) =>
  ({
    environment_id: name,
    environment_name: name,
    environment_position: position,
    versions: versions.map((version) => ({ version })),
  }) as unknown as Cell

test('a matrix has the stages in their order, and says what a stage is behind', () => {
  const cells = [
    cell('production', 30, '1.4.0'),
    cell('demo', null, '1.0.0'),
    cell('development', 10, '1.6.0'),
    cell('staging', 20, '1.5.0', '1.4.0'),
    cell('hotfix', 40, '1.4.1'),
  ]
  expect(environmentsOf([{ cells } as unknown as Row]).map(({ name }) => name)).toEqual([
    'development',
    'staging',
    'production',
    'hotfix',
    'demo',
  ])
  const line: Line = { tenant: { id: null, name: '' }, cells }
  expect(cells.map((one) => aheadOf(line, one))).toEqual([
    { environment: 'staging', version: '1.5.0' },
    null,
    null,
    { environment: 'development', version: '1.6.0' },
    null,
  ])
})

test('a moved environment changes places with its neighbour, where both have a position', () => {
  const list = [10, 20, 20, null].map((position, index) => ({ id: String(index), position }))
  expect(movedPositions(list, '1', -1)).toEqual([
    { id: '1', position: 10 },
    { id: '0', position: 20 },
  ])
  expect(movedPositions(list, '1', 1)).toEqual([{ id: '1', position: 21 }])
  expect(movedPositions(list, '2', -1)).toEqual([{ id: '1', position: 21 }])
  expect([movedPositions(list, '0', -1), movedPositions(list, '2', 1)]).toEqual([null, null])
})

test('an act on many records goes on where one fails, a few at a time', async () => {
  let [running, most] = [0, 0]
  const progress: number[] = []
  const act = async (item: number) => {
    most = Math.max(most, ++running)
    await Promise.resolve()
    running--
    if (item % 4 === 0) throw new Error(`no ${item}`)
  }
  const failures = await inBulk([1, 2, 3, 4, 5, 6, 7, 8, 9], act, (done) => progress.push(done))
  expect(failures.map(({ item, error }) => [item, error.message])).toEqual([
    [4, 'no 4'],
    [8, 'no 8'],
  ])
  expect(progress).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
  expect(most).toBe(4)
})
