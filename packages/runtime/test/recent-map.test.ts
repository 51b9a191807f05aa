import { expect, test } from '@jest/globals'
import { RecentMap } from '@slipway/runtime'

test('a recent map forgets what was set longest ago', () => {
  const map = new RecentMap<string, number>(2)
  map.set('a', 1)
  map.set('b', 2)
  map.set('a', 3)
  map.set('c', 4)
  expect(map.size).toBe(2)
  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([3, undefined, 4])
})
