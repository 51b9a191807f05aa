// What the suite of `make` keeps between its starts, in a small repository of its own.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { repositoryRoot } from '@slipway/testing'

let root: string
const script = () => path.join(root, 'scripts/suite/settings.mjs')
const settingsFile = () => path.join(root, '.slipway/settings.env')

beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-settings-'))
  fs.mkdirSync(path.dirname(script()), { recursive: true })
  fs.copyFileSync(path.join(repositoryRoot, 'scripts/suite/settings.mjs'), script())
})
afterEach(() => fs.rmSync(root, { recursive: true, force: true }))

/** What a start of the suite does with its settings; returns its ports. */
function start(env: Record<string, string> = {}): { gateway: number; bridge: number } {
  const program = `import { ports, settings } from ${JSON.stringify(script())}
    settings()
    console.log(JSON.stringify(ports()))`
  const args = ['--input-type=module', '-e', program]
  return JSON.parse(execFileSync(process.execPath, args, { env, encoding: 'utf8', stdio: 'pipe' }))
}

test('the first start uses 8080', () => {
  expect(start()).toMatchObject({ gateway: 8080, bridge: 8082 })
})

test('SLIPWAY_PORT moves the suite, and later starts without it stay there', () => {
  start()
  expect(start({ SLIPWAY_PORT: '9080' })).toMatchObject({ gateway: 9080, bridge: 9082 })
  const moved = fs.readFileSync(settingsFile(), 'utf8')
  expect(moved).toMatch(/^export SLIPWAY_URL=http:\/\/127\.0\.0\.1:9080$/m)
  expect(start()).toMatchObject({ gateway: 9080, bridge: 9082 })
  expect(fs.readFileSync(settingsFile(), 'utf8')).toBe(moved)
  expect(start({ SLIPWAY_PORT: '8080' })).toMatchObject({ gateway: 8080 })
})

test('a stored port that is none is refused with the name of the file', () => {
  start()
  fs.writeFileSync(settingsFile(), 'SLIPWAY_PORT=eighty\n')
  expect(() => start()).toThrow('SLIPWAY_PORT in .slipway/settings.env is "eighty": it must be a port, 1 to 65535')
  expect(start({ SLIPWAY_PORT: '9080' })).toMatchObject({ gateway: 9080 })
})
