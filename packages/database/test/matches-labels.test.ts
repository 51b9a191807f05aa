import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { LABEL_OPERATORS, type LabelExpression, matchesLabels } from '@slipway/domain'
import { connectTo, type OpenTestDatabase, openTestDatabase } from '@slipway/testing'
import fc from 'fast-check'
import type pg from 'pg'

let server: OpenTestDatabase
let client: pg.Client

beforeAll(async () => {
  server = await openTestDatabase()
  client = await connectTo(server.url)
})
afterAll(async () => {
  await client.end()
  await server.drop()
})

const KEYS = ['zone', 'disk']
const VALUES = ['a', 'b', '']
const labels = fc.dictionary(fc.constantFrom(...KEYS), fc.constantFrom(...VALUES))
const expression: fc.Arbitrary<LabelExpression> = fc
  .record({
    key: fc.constantFrom(...KEYS),
    operator: fc.constantFrom(...LABEL_OPERATORS),
    values: fc.array(fc.constantFrom(...VALUES), { minLength: 1, maxLength: 2 }),
  })
  .map(({ key, operator, values }) =>
    operator === 'In' || operator === 'NotIn' ? { key, operator, values } : { key, operator },
  )
const selector = fc.record(
  { match_labels: labels, match_expressions: fc.array(expression, { maxLength: 3 }) },
  { requiredKeys: [] },
)

test('the database function and the domain rule agree', async () => {
  const cases = fc.sample(fc.record({ selector, labels }), 2_000)
  const { rows } = await client.query<{ matches: boolean }>(
    `SELECT matches_labels(c -> 'selector', c -> 'labels') AS matches
       FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS cases (c, place) ORDER BY place`,
    [JSON.stringify(cases)],
  )
  const expected = cases.map((one) => matchesLabels(one.selector, one.labels))
  expect(new Set(expected).size).toBe(2)
  expect(rows.map(({ matches }) => matches)).toEqual(expected)
})
