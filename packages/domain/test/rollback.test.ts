import { describe, expect, test } from '@jest/globals'
import { findFailedReturn, findReleaseBefore, type PastRelease, planRollback } from '../src/rollback.ts'

interface Entry {
  id: string
  /** Equal for equal versions and values. */
  contents?: string
  repeats?: string
  failed?: boolean
}

/** The history on a target of releases that followed each other in this order. */
function historyOf(...entries: Entry[]): PastRelease[] {
  let current: string | null = null
  const releases = entries.map(({ id, contents = id, repeats = null, failed = false }) => {
    const replaced_deployment_id = current
    if (!failed) current = id
    const release = { deployment_id: id, version: '1.0.0', values_hash: contents, replaced_deployment_id }
    return { ...release, repeats_deployment_id: repeats }
  })
  return releases.map((release) => ({ ...release, is_current: release.deployment_id === current })).toReversed()
}

const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((id) => ({ id }))
if (!a || !b || !c || !d) throw new Error('unreachable')

/** Repeats an earlier release. The variables of records may have changed since, and with them the hash. */
const back = (id: string, repeats: string): Entry => ({ id, repeats, contents: `${id} now` })

describe('the release before', () => {
  test.each<[string, Entry[], string | null]>([
    ['nothing', [], null],
    ['the first release', [a], null],
    ['a second release', [a, b], 'a'],
    ['a rollback', [a, b, c, back('b2', 'b')], 'a'],
    ['two rollbacks', [a, b, c, back('b2', 'b'), back('a2', 'a')], null],
    ['a release after two rollbacks', [a, b, c, back('b2', 'b'), back('a2', 'a'), d], 'a'],
    ['a rollback of that', [a, b, c, back('b2', 'b'), back('a2', 'a'), d, back('a3', 'a')], null],
    ['a rollback to a rollback', [a, b, c, back('b2', 'b'), d, back('b3', 'b2')], 'a'],
    ['the same release again', [a, b, { id: 'b2', contents: 'b' }], 'a'],
    ['the same release again after a rollback', [a, b, c, back('b2', 'b'), { id: 'b3', contents: 'b2 now' }], 'a'],
    ['an earlier version that was deployed, not rolled back to', [a, b, { id: 'a2', contents: 'a' }], 'b'],
    ['a redeployment with other variables', [a, { id: 'a2' }], 'a'],
    ['a failed attempt that was rolled back', [a, b, { ...c, failed: true }], 'a'],
  ])('%s', (_, entries, before) => {
    expect(findReleaseBefore(historyOf(...entries))).toBe(before)
  })

  test('is named also if retention has deleted it', () => {
    expect(findReleaseBefore(historyOf(a, b).slice(0, 1))).toBe('a')
  })
})

test('a rollback that failed is tried again, and other failures lead to the release in force', () => {
  expect(findFailedReturn(historyOf(a, b, c, { ...back('b2', 'b'), failed: true }))).toBe('b')
  expect(findFailedReturn(historyOf(a, b, { ...c, failed: true }))).toBeNull()
  // A failed repetition of what is in force.
  expect(findFailedReturn(historyOf(a, b, { ...back('b2', 'b'), failed: true }))).toBeNull()
  expect(findFailedReturn(historyOf({ ...a, failed: true }))).toBeNull()
})

describe('a rollback of several targets', () => {
  const target = (id: string, hasFailed: boolean, ...entries: Entry[]) => ({
    ...{ id, name: id, hasFailed, isWhole: true, inForce: entries.findLast((entry) => !entry.failed)?.id ?? null },
    history: historyOf(...entries),
  })

  test('has a group for each release that it brings back, the largest first', () => {
    const { groups } = planRollback([
      target('new', false, a),
      target('one', false, a, b),
      target('broken', true, a, { ...b, failed: true }),
      target('other', false, b, c),
    ])
    expect(groups.map(({ deployment_id, targets }) => [deployment_id, targets.map(({ id }) => id)])).toEqual([
      ['a', ['one', 'broken']],
      [null, ['new']],
      ['b', ['other']],
    ])
  })

  test('tries a rollback that failed again', () => {
    const { groups } = planRollback([target('one', true, a, b, c, { ...back('b2', 'b'), failed: true })])
    expect(groups[0]?.deployment_id).toBe('b')
  })

  test.each<[string, boolean, Entry[]]>([
    ['the same release many times', false, [a, { ...b }, { id: 'b2', contents: 'b' }, { id: 'b3', contents: 'b' }]],
    ['a repetition of an older one', false, [a, b, c, back('b2', 'b')]],
    ['failures alone', false, [a, b, { ...c, failed: true }, { ...d, failed: true }]],
  ])('asks for more of a history that does not tell: %s', (_, hasFailed, entries) => {
    const whole = target('one', hasFailed, ...entries)
    const part = { ...whole, history: whole.history.slice(0, 2), isWhole: false }
    expect(planRollback([part])).toEqual({ groups: [], open: ['one'] })
    expect(planRollback([whole]).open).toEqual([])
  })

  test('after failures alone, the release in force is known without its history', () => {
    const whole = target('one', true, a, b, { ...c, failed: true }, { ...d, failed: true })
    const part = { ...whole, history: whole.history.slice(0, 2), isWhole: false }
    expect(planRollback([part]).groups).toMatchObject([{ deployment_id: 'b' }])
  })
})
