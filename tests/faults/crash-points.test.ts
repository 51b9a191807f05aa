import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { beforeAll, expect, test } from '@jest/globals'
import { repositoryRoot } from '@slipway/testing'
import { CELLS } from '../campaign/crash-points/cells.ts'
import { runCrashPoints } from '../campaign/crash-points/runner.ts'

const HIT = [
  'dispatcher.deployment.created.after-commit',
  'executor-bridge.steps.move.before-commit',
  'orchestration-instance.log.after-flush',
]

const SERVICES = fs.readdirSync(path.join(repositoryRoot, 'services'))

/** The text of all files that a bundle loads. */
function bundleOf(folder: string, entry: string, seen = new Set<string>()): string {
  const file = path.join(folder, entry)
  if (seen.has(entry) || !fs.existsSync(file)) return ''
  seen.add(entry)
  const text = fs.readFileSync(file, 'utf8')
  const parts = [...text.matchAll(/['"]\.\/((?:bundle|thread)[\w-]*\.js)['"]/g)].map(([, name = '']) => name)
  return [text, ...parts.map((part) => bundleOf(folder, part, seen))].join('\n')
}

const wordsIn = (text: string) => {
  const words = ['failpoint', 'SLIPWAY_FAILPOINT', ...new Set(CELLS.map(({ moment }) => moment))]
  return words.filter((word) => text.includes(word))
}

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

test.each(SERVICES)('the bundle of %s for production has neither names nor calls of failpoints', (service) => {
  const text = bundleOf(path.join(repositoryRoot, 'services', service, 'dist'), 'bundle.js')
  expect(text.length).toBeGreaterThan(10_000)
  expect(wordsIn(text)).toEqual([])
})

test('the bundles of the campaign have names and calls of failpoints', () => {
  const folder = path.join(repositoryRoot, '.slipway/failpoints/services/dispatcher/dist')
  expect(wordsIn(bundleOf(folder, 'bundle.js'))).toEqual(expect.arrayContaining(['failpoint', 'before-commit']))
})
