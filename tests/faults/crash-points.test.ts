import { execFileSync } from 'node:child_process'
import { beforeAll, expect, test } from '@jest/globals'
import { repositoryRoot } from '@slipway/testing'
import { CELLS } from '../campaign/crash-points/cells.ts'
import { runCrashPoints } from '../campaign/crash-points/runner.ts'

const HIT = [
  'dispatcher.deployment.created.after-commit',
  'executor-bridge.steps.move.before-commit',
  'orchestration-instance.log.after-flush',
]

beforeAll(() => {
  execFileSync(process.execPath, ['scripts/bundle.mjs', '--failpoints'], { cwd: repositoryRoot })
})

// `make crash-points` hits each failpoint many times.
test('three processes that die at failpoints violate no invariant', async () => {
  const cells = await runCrashPoints({ cells: CELLS.filter(({ name }) => HIT.includes(name)), hits: 1 })
  expect(cells.map(({ name, hits, violations }) => ({ name, hits, violations }))).toEqual(
    HIT.map((name) => ({ name, hits: 1, violations: [] })),
  )
})
