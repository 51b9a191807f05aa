// What the command line refuses before it calls a server.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { runSlipway } from './slipway.ts'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-usage-'))
afterAll(() => fs.rmSync(folder, { recursive: true }))
fs.writeFileSync(path.join(folder, 'tenant.yaml'), 'kind: tenant\nname: Acme\n')

/** A call of this address would fail with the exit code 6. */
const NOWHERE = 'http://127.0.0.1:9'

test.each([
  ['an unknown command', ['deplyo'], "unknown command 'deplyo'"],
  ['a verb of another program', ['users', 'get', 'ada'], 'Did you mean show?'],
  ['a mistyped verb', ['targets', 'shwo', 'web-1'], 'Did you mean show?'],
  ['a verb that a kind does not have', ['instances', 'add'], 'slipway join-tokens create'],
  ['the beginning of an option', ['environments', 'create', 'a', '--pos', '3'], 'Did you mean --position?'],
  ['an option with another end', ['targets', 'edit', 'a', '--username', 'b'], 'Did you mean --user?'],
  ['an argument as an option', ['tenants', 'create', '--name', 'a'], 'Did you mean <name>, without --name?'],
  ['a name in the place of an option', ['targets', 'list', 'web-1'], 'Did you mean slipway targets show web-1?'],
  ['an unknown option', ['deploy', 'greet', '--targt', 'one'], 'Did you mean --target'],
  ['a missing argument', ['deploy'], "missing required argument 'source'"],
  ['another version', ['deploy', 'greet', '--version', '1.0.0'], 'for the version of a source use --source-version'],
  ['an invalid mode', ['deploy', 'greet', '--mode', 'rolling:0'], 'Allowed are sequential, parallel and rolling:N'],
  ['a variable without a value', ['deploy', 'greet', '--var', 'name'], 'Write it as NAME=TEXT'],
  ['a prompt without a terminal', ['login', '--email', 'a@example.com'], 'give --password-stdin'],
  ['live lines of one stream', ['logs', 'x', '--stream', 'stdout', '--follow'], 'cannot be used with'],
  ['an apply without files', ['apply'], 'required option'],
  ['--timeout alone', ['deploy', 'greet', '--timeout', '30m'], "'--timeout <duration>' needs '--wait' or '--follow'"],
  ['--cancel-on-interrupt alone', ['redeploy', '@last', '--cancel-on-interrupt'], "needs '--wait' or '--follow'"],
  [
    'an override without its reason',
    ['deploy', 'greet', '--override-rules'],
    "needs '--reason' or '--override-freeze'",
  ],
  ['a kind without a source', ['drift', '--kind', 'action'], "'--kind <kind>' needs a source"],
  ['the options of a parent', ['deployments', 'list', '--kind', 'action'], "'--kind <kind>' needs '--source'"],
  ['--exit-code without --dry-run', ['apply', '-f', folder, '--exit-code'], "'--exit-code' needs '--dry-run'"],
  ['--prune without a manager', ['apply', '-f', folder, '--prune', '--yes'], 'manager: NAME'],
])('%s exits with 2', async (_, args, message) => {
  expect(await runSlipway(NOWHERE, args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) })
})

test('a command without a credential exits with 2, and the error names the variable', async () => {
  const { code, stderr } = await runSlipway(NOWHERE, ['whoami'], { env: { SLIPWAY_TOKEN: '' } })
  expect([code, stderr]).toEqual([2, expect.stringContaining('set SLIPWAY_API_KEY')])
})

test.each([
  ['localhost:9530', 'write http://localhost:9530, or https://localhost:9530'],
  ['ftp://example.com', 'it must begin with http:// or https://'],
])('the address %s exits with 2', async (url, message) => {
  expect(await runSlipway(url, ['whoami'])).toMatchObject({ code: 2, stderr: expect.stringContaining(message) })
})

test('the path of the API does not belong to the address of the server', async () => {
  expect((await runSlipway(`${NOWHERE}/api/v1/`, ['whoami'])).stderr).toContain(`does not answer at ${NOWHERE} `)
})

test('a server that does not answer exits with 6', async () => {
  const { code, stderr } = await runSlipway(NOWHERE, ['whoami'])
  expect([code, stderr]).toEqual([6, expect.stringContaining(`does not answer at ${NOWHERE}`)])
})

test('version succeeds without a server', async () => {
  expect(await runSlipway(NOWHERE, ['version', '-o', 'json'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"server_version": null'),
  })
})

test('--version alone prints the version', async () => {
  expect(await runSlipway(NOWHERE, ['--version'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d/) })
})
