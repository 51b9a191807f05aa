import { expect, test } from '@jest/globals'
import { Health } from '../src/index.ts'

test('a check that throws or never answers counts as down and does not delay the other checks', async () => {
  const health = new Health()
  health.setServing(true)
  health.check('good', async () => true)
  health.check('bad', () => false)
  health.check('broken', () => {
    throw new Error('no')
  })
  const asked: string[] = []
  for (const name of ['silent', 'silent too']) {
    health.check(name, () => {
      asked.push(name)
      return new Promise(() => {})
    })
  }
  const report = health.report()
  // The second check starts although the first one has not timed out yet.
  await new Promise(setImmediate)
  expect(asked).toEqual(['silent', 'silent too'])
  expect(await report).toEqual({
    ready: false,
    dependencies: { good: 'up', bad: 'down', broken: 'down', silent: 'down', 'silent too': 'down' },
  })
})

test('a dependency that is only shown does not decide', async () => {
  const health = new Health()
  health.setServing(true)
  health.show('live streams', () => false)
  expect(await health.report()).toEqual({ ready: true, dependencies: { 'live streams': 'down' } })
})

test('a service is not ready before it is serving, even if all its dependencies are up', async () => {
  const health = new Health()
  health.check('good', () => true)
  expect(await health.report()).toEqual({ ready: false, dependencies: { good: 'up' } })
  health.setServing(true)
  expect((await health.report()).ready).toBe(true)
})

test('concurrent callers share one run of the checks', async () => {
  let runs = 0
  const health = new Health()
  health.check('counted', () => ++runs > 0)
  await Promise.all([health.report(), health.report(), health.report()])
  expect(runs).toBe(1)
})
