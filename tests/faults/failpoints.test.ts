import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from '@jest/globals'
import { repositoryFiles, repositoryRoot } from '@slipway/testing'
import { CELLS } from '../../campaign/crash-points/cells.ts'

const SERVICES = fs.readdirSync(path.join(repositoryRoot, 'services'))

/** A call of `failpoint` or `failAtCommit` in the sources. */
interface Call {
  file: string
  /** Null for a call in a package. */
  service: string | null
  /** Null if the path depends on the message or event at run time. */
  path: string | null
  moments: string[]
}

const CALL = /\b(failpoint|failAtCommit)\(([^()]+)\)/g

function callsIn(file: string): Call[] {
  const text = fs.readFileSync(path.join(repositoryRoot, file), 'utf8')
  return [...text.matchAll(CALL)].map(([, name, given = '']) => {
    const [first = '', second = '', third] = given.split(',').map((argument) => argument.trim())
    const what = third === undefined ? 'commit' : textOf(third)
    return {
      file,
      service: /^services\/([^/]+)/.exec(file)?.[1] ?? null,
      path: textOf(name === 'failpoint' ? first : second),
      moments: name === 'failpoint' ? [textOf(second) ?? ''] : [`before-${what}`, `after-${what}`],
    }
  })
}

const textOf = (argument: string) => /^'(.*)'$/.exec(argument)?.[1] ?? null

const calls = repositoryFiles('packages/*/src/*.ts', 'services/*/src/*.ts')
  .filter((file) => !/^packages\/runtime\/src\/failpoints?\.ts$/.test(file))
  .flatMap(callsIn)

const covers = (call: Call, cell: (typeof CELLS)[number]) =>
  (call.service === null || call.service === cell.service) &&
  (call.path === null || call.path === cell.path) &&
  call.moments.includes(cell.moment)

test('each failpoint has a call in the code, and each call has a failpoint', () => {
  expect(CELLS.filter((cell) => !calls.some((call) => covers(call, cell)))).toEqual([])
  expect(calls.filter((call) => !CELLS.some((cell) => covers(call, cell)))).toEqual([])
})

test('there are 94 failpoints or more, and no two have the same name', () => {
  expect(CELLS.length).toBeGreaterThanOrEqual(94)
  expect(new Set(CELLS.map(({ name }) => name)).size).toBe(CELLS.length)
})

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
  const words = ['failpoint', 'failAtCommit', 'SLIPWAY_FAILPOINT', ...new Set(CELLS.map(({ moment }) => moment))]
  return words.filter((word) => text.includes(word))
}

test.each(SERVICES)('the bundle of %s for production has neither names nor calls of failpoints', (service) => {
  const text = bundleOf(path.join(repositoryRoot, 'services', service, 'dist'), 'bundle.js')
  expect(text.length).toBeGreaterThan(10_000)
  expect(wordsIn(text)).toEqual([])
})

test('the bundles of the campaign have names and calls of failpoints', () => {
  execFileSync(process.execPath, ['scripts/bundle.mjs', '--failpoints'], { cwd: repositoryRoot })
  const folder = path.join(repositoryRoot, '.slipway/failpoints/services/dispatcher/dist')
  expect(wordsIn(bundleOf(folder, 'bundle.js'))).toEqual(expect.arrayContaining(['failpoint', 'before-commit']))
})
