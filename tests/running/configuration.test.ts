import { execFile } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from '@jest/globals'
import { repositoryRoot } from '@slipway/testing'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-configuration-'))
afterAll(() => fs.rmSync(folder, { recursive: true }))

interface Ended {
  code: number
  stdout: string
  stderr: string
}

/** Runs a program to its end, with only these variables. */
function run(script: string, args: string[] = [], env: Record<string, string> = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const file = path.join(repositoryRoot, script)
    execFile(
      process.execPath,
      [file, ...args],
      // A service that starts unexpectedly is killed.
      { env: { PATH: String(process.env['PATH']), ...env }, timeout: 120_000, killSignal: 'SIGKILL' },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    )
  })
}

// On a busy machine, a process takes seconds to start.
test('the page of all variables matches the schemas', async () => {
  expect(await run('scripts/configuration.mjs', ['--check'])).toEqual({ code: 0, stdout: '', stderr: '' })
})

interface Variable {
  name: string
  required: boolean
  secret: boolean
  readers: string
}

/** The rows of the page. */
const variables: Variable[] = fs
  .readFileSync(path.join(repositoryRoot, 'docs/configuration.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => {
    const [, name = '', value, , , secret, readers = ''] = line.split(/(?<!\\)\|/).map((cell) => cell.trim())
    return { name: name.slice(1, -1), required: value === '**required**', secret: secret === 'yes', readers }
  })

const requiredBy = (service: string) =>
  variables.filter(({ required, readers }) => required && (readers === 'all' || readers.split(', ').includes(service)))

const SERVICES = fs.readdirSync(path.join(repositoryRoot, 'services'))
// The other services start without any variable.
const NEEDY = SERVICES.filter((service) => requiredBy(service).length > 0)

test.each(NEEDY)('%s does not start with missing variables, and names all of them with examples', async (service) => {
  const { code, stdout, stderr } = await run(`services/${service}/dist/bundle.js`)
  expect(code).toBe(78)
  expect(stdout).toBe('')
  const named = [...stderr.matchAll(/^ {2}(\w+) is missing \(.+\)\. Example: \1=.+$/gm)].map(([, name]) => name)
  expect(named.sort()).toEqual(
    requiredBy(service)
      .map(({ name }) => name)
      .sort(),
  )
})

describe.each(SERVICES)('%s', (service) => {
  const main = `services/${service}/dist/bundle.js`

  test('describes a wrong value, and never shows a value that may be secret', async () => {
    const secrets = requiredBy(service).filter(({ secret }) => secret)
    const given = Object.fromEntries(secrets.map(({ name }) => [name, 'hunter2']))
    const { code, stderr } = await run(main, [], { ...given, SLIPWAY_LOG_LEVEL: 'loud' })
    expect(code).toBe(78)
    expect(stderr).toContain('SLIPWAY_LOG_LEVEL is "loud", which must be one of error, warn, info, debug')
    expect(stderr).not.toContain('hunter2')
  })

  test('reads a value from a file, and names a file that it cannot read', async () => {
    const file = path.join(folder, 'value')
    fs.writeFileSync(file, 'loud\n')
    const wrong = await run(main, [], { SLIPWAY_LOG_LEVEL_FILE: file })
    expect(wrong.stderr).toContain('SLIPWAY_LOG_LEVEL is "loud"')
    const absent = await run(main, [], { SLIPWAY_LOG_LEVEL_FILE: '/nowhere/at/all' })
    expect(absent.stderr).toContain('SLIPWAY_LOG_LEVEL_FILE names /nowhere/at/all (ENOENT)')
  })
})

test('a drift check interval below 60 s is refused', async () => {
  const { code, stderr } = await run('services/dispatcher/dist/bundle.js', [], { SLIPWAY_DRIFT_CHECK_INTERVAL: '59' })
  expect(code).toBe(78)
  expect(stderr).toContain(
    'SLIPWAY_DRIFT_CHECK_INTERVAL is "59", which must be 0, or a whole number from 60 to 31536000',
  )
})
