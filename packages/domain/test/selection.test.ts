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

test('ids keep their order, tags follow by name, each target once', () => {
  const result = selectTargets(candidates, { target_ids: ['1', '3', '1'], target_tags: [web] })
  expect(ids(result)).toEqual(['1', '3', '2'])
  expect(result.problems).toEqual([])
})

test('any tag is enough unless all must match; disabled targets are passed over', () => {
  expect(ids(selectTargets(candidates, { target_tags: [web, eu] }))).toEqual(['2', '3', '1'])
  expect(ids(selectTargets(candidates, { target_tags: [web, eu], match_all: true }))).toEqual(['2'])
})

test('names every id that is unknown or disabled', () => {
  const result = selectTargets(candidates, { target_ids: ['9', '4', '8'] })
  expect(result.missing).toEqual([
    { path: '/target_ids/0', id: '9' },
    { path: '/target_ids/2', id: '8' },
  ])
  expect(result.problems).toEqual([{ path: '/target_ids/1', message: 'target "cat" is disabled' }])
})

test('tags that match nothing, and no selection at all, are problems', () => {
  expect(selectTargets(candidates, { target_tags: [tag('role', 'db')] }).problems).toMatchObject([
    { path: '/target_tags' },
  ])
  expect(selectTargets(candidates, { target_ids: [], target_tags: [] }).problems).toMatchObject([
    { path: '/target_ids' },
  ])
})

test('keeps to the tenant and environment of the deployment', () => {
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
