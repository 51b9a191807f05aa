// The program `slipway` itself. All other tests run commands in their own process.
import { spawn } from 'node:child_process'
import path from 'node:path'
import { beforeAll, expect, test } from '@jest/globals'
import { createAction, deploymentEnd, openTenant, repositoryRoot, type TestTenant, waitFor } from '@slipway/testing'
import { createFolder } from './command-line.ts'

const program = path.join(repositoryRoot, 'packages/cli/bin/slipway.mjs')
const home = createFolder()
let tenant: TestTenant

beforeAll(async () => {
  tenant = await openTenant()
})

function start(command: string, args: readonly string[], more: Record<string, string> = {}) {
  const child = spawn(command, args, {
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      TERM: 'xterm',
      NODE: process.execPath,
      PROGRAM: program,
      SLIPWAY_URL: tenant.suite.url,
      ...more,
    },
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    output.stderr += text
  })
  const ended = new Promise((resolve) => child.on('close', (code) => resolve({ code, ...output })))
  return { child, output, ended }
}

test('the program succeeds if its reader closes the pipe, and else exits with the code of the command', async () => {
  // More than a pipe holds, so that the program still writes after `head` has closed it.
  const action_id = await createAction(tenant.api, { script: 'seq 10000 20000' })
  const target_ids = [await tenant.createLocalTarget({ name: 'one' })]
  const { body } = await tenant.api.post('/deployments', { action_id, target_ids })
  expect(await deploymentEnd(tenant.api, body.deployment_id)).toMatchObject({ state: 'success' })

  const token = { SLIPWAY_TOKEN: tenant.api.token }
  const script = `set -o pipefail; "$NODE" "$PROGRAM" logs ${body.deployment_id} | head -n 1`
  expect(await start('bash', ['-c', script], token).ended).toEqual({ code: 0, stdout: 'one | 10000\n', stderr: '' })
  const refused = await start(process.execPath, [program, 'environments', 'show', 'none'], token).ended
  expect(refused).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('there is no environment') })
})

test('on a terminal, a typed password is not shown, and Ctrl-C ends a command', async () => {
  const { email, password } = tenant.account
  const commands = '"$NODE" "$PROGRAM" login; "$NODE" "$PROGRAM" environments list --watch; echo "code $?"'
  const { child, output, ended } = start('script', ['-qefc', `bash -c '${commands}'`, '/dev/null'])
  const shown = (text: string) => waitFor(() => output.stdout.includes(text), { what: text })
  await shown('e-mail: ')
  child.stdin.write(`${email}\r`)
  await shown('password: ')
  child.stdin.write(`${password}\r`)
  await shown('production')
  child.stdin.write('\x03')
  await shown('code 130')
  child.stdin.end()
  await ended
  expect(output.stdout).toContain(email)
  expect(output.stdout).not.toContain(password)
})
