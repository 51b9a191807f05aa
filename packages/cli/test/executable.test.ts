// The program itself. Every other test runs commands in its own process.
import { spawn } from 'node:child_process'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sendJson, startFakeServer, waitFor } from '@slipway/testing'

const program = path.join(import.meta.dirname, '../bin/slipway.mjs')
/** More than a pipe holds, so that the program writes after `head` has closed it. */
const COUNT = 5_000

let server: Awaited<ReturnType<typeof startFakeServer>>
beforeAll(async () => {
  const data = Array.from({ length: COUNT }, (_, n) => ({ id: `id-${n}`, name: `an environment, number ${n}` }))
  const meta = { total: COUNT, page: 1, limit: COUNT, total_pages: 1, has_next: false, has_prev: false }
  server = await startFakeServer({
    'GET /environments': (_, response) => sendJson(response, 200, { data, meta }),
    'POST /auth/login': (_, response) => sendJson(response, 200, { access_token: 'token' }),
  })
})
afterAll(() => server.close())

function start(command: string, args: readonly string[]) {
  const child = spawn(command, args, {
    env: {
      ...{ PATH: process.env['PATH'], HOME: '/nonexistent', XDG_CONFIG_HOME: '/nonexistent', TERM: 'xterm' },
      ...{ SLIPWAY_URL: server.url, SLIPWAY_TOKEN: 'token', NODE: process.execPath, PROGRAM: program },
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
  const listing = 'set -o pipefail; "$NODE" "$PROGRAM" environments list -o name | head -n 1'
  expect(await start('bash', ['-c', listing]).ended).toEqual({
    code: 0,
    stdout: 'an environment, number 0\n',
    stderr: '',
  })
  const refused = await start(process.execPath, [program, 'environments', 'show', 'none']).ended
  expect(refused).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('there is no environment') })
})

test('on a terminal, a typed password is not shown, and Ctrl-C ends a command', async () => {
  const commands = '"$NODE" "$PROGRAM" login; "$NODE" "$PROGRAM" environments list --watch -o name; echo "code $?"'
  const { child, output, ended } = start('script', ['-qefc', `bash -c '${commands}'`, '/dev/null'])
  const shown = (text: string) => waitFor(() => output.stdout.includes(text), { what: text })
  await shown('e-mail: ')
  child.stdin.write('ada@example.com\r')
  await shown('password: ')
  child.stdin.write('a long password\r')
  await shown(`number ${COUNT - 1}`)
  child.stdin.write('\x03')
  await shown('code 130')
  child.stdin.end()
  await ended
  expect(output.stdout).toContain('ada@example.com')
  expect(output.stdout).not.toContain('a long password')
})
