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
  for (const name of ['silent', 'silent too']) health.check(name, () => new Promise(() => {}))
  const began = performance.now()
  expect(await health.report()).toEqual({
    ready: false,
    dependencies: { good: 'up', bad: 'down', broken: 'down', silent: 'down', 'silent too': 'down' },
  })
  // Two checks one after the other would take 1.8 s.
  expect(performance.now() - began).toBeLessThan(1_700)
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
