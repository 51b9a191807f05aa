import { expect, test } from '@jest/globals'
import { Quarantine } from '@slipway/database'
import { testLogger } from '@slipway/testing'

const logged: unknown[] = []
const logger = { ...testLogger, error: (_message: string, facts?: object) => void logged.push(facts) }

const quarantine = () => {
  let time = 0
  const rows = new Quarantine({ task: 'test', logger, now: () => time })
  return { rows, wait: (ms: number) => (time += ms) }
}
const name = (row: string) => row
const failing = (bad: string) => async (row: string) => {
  if (row === bad) throw new Error(`${row} is bad`)
  return row
}

test('a failed row is logged, and the other rows are processed', async () => {
  const { rows } = quarantine()
  logged.length = 0
  expect(await rows.each(['a', 'b', 'c'], name, failing('b'))).toEqual(['a', 'c'])
  expect(logged).toMatchObject([{ task: 'test', row: 'b', failures: 1, retry_in_ms: 1_000 }])
  expect(rows.held).toEqual(['b'])
})

test('rows are processed together, and one by one only if that fails', async () => {
  const { rows } = quarantine()
  const calls: string[] = []
  const work = (bad: string) => async (some: readonly string[]) => {
    calls.push(some.join(''))
    if (some.includes(bad)) throw new Error('one of them is bad')
    return some.join('')
  }
  expect(await rows.together(['a', 'b', 'c'], name, work(''))).toEqual(['abc'])
  expect(await rows.together(['a', 'b', 'c'], name, work('b'))).toEqual(['a', 'c'])
  // The failed row is not in the next group.
  expect(await rows.together(['a', 'b', 'c'], name, work('b'))).toEqual(['ac'])
  expect(calls).toEqual(['abc', 'abc', 'a', 'b', 'c', 'ac'])
})

test('the retry delay of a failed row grows up to 5 minutes, and a success resets it', async () => {
  const { rows, wait } = quarantine()
  let bad = 'b'
  const attempts = async (ms: number) => {
    let tried = 0
    wait(ms)
    await rows.each(['b'], name, async (row) => {
      tried += 1
      return failing(bad)(row)
    })
    return tried
  }
  expect([await attempts(0), await attempts(999), await attempts(1), await attempts(1_999), await attempts(1)]).toEqual(
    [1, 0, 1, 0, 1],
  )
  for (let failures = 0; failures < 20; failures += 1) await attempts(300_000)
  expect([await attempts(299_999), await attempts(1)]).toEqual([0, 1])
  bad = 'none'
  expect(await attempts(300_000)).toBe(1)
  bad = 'b'
  await attempts(0)
  expect([await attempts(999), await attempts(1)]).toEqual([0, 1])
})

test('an unreachable database quarantines no row', async () => {
  const { rows } = quarantine()
  const away = async () => {
    throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  }
  await expect(rows.each(['a'], name, away)).rejects.toThrow('ECONNREFUSED')
  await expect(rows.together(['a', 'b'], name, away)).rejects.toThrow('ECONNREFUSED')
  expect(rows.held).toEqual([])
})
