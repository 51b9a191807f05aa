import { expect, test } from '@jest/globals'
import { findSimilar, suggest } from '@slipway/domain'

test.each([
  ['ev-shp', ['env-shop', 'env-farm'], ['env-shop']],
  ['deployment:create', ['deployments:create', 'deployments:read'], ['deployments:create']],
  ['GRETTING', ['greeting', 'name'], ['greeting']],
  ['web-3', ['web-1', 'web-2', 'db-1'], ['web-1', 'web-2']],
  ['api', ['web', 'db'], []],
  ['web', ['web', 'wet'], ['web']],
])('%s may mean one of %p', (given, known, similar) => {
  expect(findSimilar(given, known)).toEqual(similar)
})

test('a suggestion ends a sentence, and is nothing without a similar word', () => {
  expect(suggest('gretting', ['greeting'])).toBe('; did you mean greeting?')
  expect(suggest('x'.repeat(10_000), ['greeting'])).toBe('')
})
