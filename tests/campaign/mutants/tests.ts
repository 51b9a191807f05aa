import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

const JEST = ['--conditions=@slipway/source', '--import=./scripts/jest/register.mjs', 'node_modules/jest/bin/jest.js']

/** A test that failed. */
export interface Failure {
  file: string
  /** The name of the test; of the first one, if several tests of the file failed. */
  test: string
  message: string
}

interface JestResult {
  success: boolean
  testResults: {
    name: string
    status: string
    message: string
    assertionResults: { status: string; fullName: string; failureMessages: string[] }[]
  }[]
}

/** The test files of packages and services: all that `make test` runs inside the process of the test. */
export function inProcessFiles(root: string): string[] {
  const listed = execFileSync(process.execPath, [...JEST, '--selectProjects', 'rules', '--listTests'], {
    cwd: root,
    encoding: 'utf8',
  })
  const files = listed.split('\n').map((file) => path.relative(root, file))
  return files.filter((file) => /^(packages|services)\//.test(file)).sort()
}

/** The test files of the golden paths. */
export function goldenFiles(root: string): string[] {
  const folder = path.join(root, 'tests/golden')
  if (!fs.existsSync(folder)) return []
  const names = fs.readdirSync(folder).filter((name) => name.endsWith('.test.ts'))
  return names.sort().map((name) => `tests/golden/${name}`)
}

/**
 * Runs test files in a copy of the tree, until the first one fails. Null if all pass.
 * @throws Error if a file cannot be run
 */
export function firstFailure(root: string, files: readonly string[], env: NodeJS.ProcessEnv): Failure | null {
  const output = path.join(root, '.slipway/jest.json')
  fs.mkdirSync(path.dirname(output), { recursive: true })
  fs.rmSync(output, { force: true })
  const options = ['--ci', '--bail', '--json', `--outputFile=${output}`, '--runTestsByPath', ...files]
  const { status, stderr } = spawnSync(process.execPath, [...JEST, ...options], {
    cwd: root,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
    maxBuffer: 256 * 1024 * 1024,
  })
  if (!fs.existsSync(output)) throw new Error(`jest gave no result:\n${stderr}`)
  const result: JestResult = JSON.parse(fs.readFileSync(output, 'utf8'))
  for (const { name, message, assertionResults } of result.testResults) {
    const failed = assertionResults.find((test) => test.status === 'failed')
    const file = path.relative(root, name)
    if (failed) return { file, test: failed.fullName, message: failed.failureMessages[0] ?? '' }
    if (assertionResults.length === 0) throw new Error(`${file} could not be run: ${message}`)
  }
  if (status !== 0) throw new Error(`jest failed without a failed test:\n${stderr}`)
  return null
}
