import { expect, test } from '@jest/globals'
import { selectTargets } from '../src/index.ts'

const tag = (key: string, value: string) => ({ key, value })
const byId = <T extends { id: string }>(records: T[]) => new Map(records.map((record) => [record.id, record]))
const web = tag('role', 'web')
const eu = tag('zone', 'eu')
const candidates = byId([
  { id: '1', name: 'zebra', tags: [web], enabled: true },
  { id: '2', name: 'ant', tags: [web, eu], enabled: true },
  { id: '3', name: 'bee', tags: [eu], enabled: true, tenant_id: 'a', environment_id: 'prod' },
  { id: '4', name: 'cat', tags: [web, eu], enabled: false },
])
const ids = (result: { targets: { id: string }[] }) => result.targets.map(({ id }) => id)

test('named targets keep their order, tagged targets follow by name, and each target is selected once', () => {
  const result = selectTargets(candidates, { target_ids: ['1', '3', '1'], target_tags: [web] })
  expect(ids(result)).toEqual(['1', '3', '2'])
  expect(result.problems).toEqual([])
})

test('one matching tag is enough unless all must match, and disabled targets are not selected', () => {
  expect(ids(selectTargets(candidates, { target_tags: [web, eu] }))).toEqual(['2', '3', '1'])
  expect(ids(selectTargets(candidates, { target_tags: [web, eu], match_all: true }))).toEqual(['2'])
})

test('every unknown or disabled id is reported', () => {
  const result = selectTargets(candidates, { target_ids: ['9', '4', '8'] })
  expect(result.missing).toEqual([
    { path: '/target_ids/0', id: '9' },
    { path: '/target_ids/2', id: '8' },
  ])
  expect(result.problems).toEqual([{ path: '/target_ids/1', message: 'target "cat" is disabled' }])
})

test('tags without a target and an empty selection are problems', () => {
  expect(selectTargets(candidates, { target_tags: [tag('role', 'db')] }).problems).toMatchObject([
    { path: '/target_tags' },
  ])
  expect(selectTargets(candidates, { target_ids: [], target_tags: [] }).problems).toMatchObject([
    { path: '/target_ids' },
  ])
})

test('targets of another tenant or environment are not selected', () => {
  const choose = (tenant_id: string | null, environment_id: string | null) =>
    selectTargets(candidates, { target_ids: ['3'], target_tags: [eu] }, { tenant_id, environment_id })
  expect(ids(choose('a', 'prod'))).toEqual(['3', '2'])
  expect(ids(choose('a', null))).toEqual(['3', '2'])
  expect(choose('a', 'test').problems).toEqual([
    { path: '/target_ids/0', message: 'target "bee" is of another environment' },
  ])
  expect(choose(null, 'prod').problems).toEqual([
    { path: '/target_ids/0', message: 'target "bee" is of another tenant' },
  ])
  expect(ids(choose('b', 'test'))).toEqual(['2'])
})
