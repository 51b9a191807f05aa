// What a person sees and types on a terminal.
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { sendJson, startFakeServer, waitFor } from '@slipway/testing'
import { type RunOptions, startSlipway } from './slipway.ts'

const environment = {
  id: '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a3d',
  sqid: 'abcdefgh',
  name: 'blue',
  tenant_id: null,
  variables: {},
  instance_selector: null,
  updated_at: null,
}
const meta = { total: 1, page: 1, limit: 100, total_pages: 1, has_next: false, has_prev: false }

let names: string[]
let server: Awaited<ReturnType<typeof startFakeServer>>
beforeAll(async () => {
  server = await startFakeServer({
    'GET /environments': (_, response) =>
      sendJson(response, 200, {
        data: names.map((name) => ({ ...environment, id: name === 'blue' ? environment.id : name, name })),
        meta,
      }),
    [`DELETE /environments/${environment.id}`]: (_, response) =>
      response.writeHead(204, { 'x-request-id': 'request' }).end(),
    'POST /auth/login': (_, response) => sendJson(response, 200, { requires_2fa: true, pending_token: 'pending' }),
    'POST /auth/2fa/login': (_, response, body) =>
      sendJson(response, 401, { error: { code: 'INVALID_TOKEN', message: `no code ${JSON.stringify(body)}` } }),
  })
})
afterAll(() => server.close())
beforeEach(() => {
  names = ['blue']
  server.requests.length = 0
})

const start = (args: readonly string[], { env, ...options }: RunOptions = {}) =>
  startSlipway(args, { isTerminal: true, env: { SLIPWAY_URL: server.url, ...env }, ...options })

/** Types an answer when the question is on the terminal. */
async function answer(running: ReturnType<typeof start>, question: string, text: string) {
  await waitFor(() => running.stderr().endsWith(`${question} `), { what: question })
  running.type(`${text}\r`)
}

test.each([
  ['y', 0, 1],
  ['Yes', 0, 1],
  ['', 3, 0],
  ['no', 3, 0],
])('the answer "%s" before a deletion gives the exit code %i', async (text, code, count) => {
  const running = start(['environments', 'delete', 'blue'])
  await answer(running, 'delete environment blue? [y/N]:', text)
  expect((await running.ended).code).toBe(code)
  expect(server.count(`DELETE /environments/${environment.id}`)).toBe(count)
})

test('a login asks for e-mail, password and second factor, and shows no password', async () => {
  const running = start(['login'])
  await answer(running, 'e-mail:', 'ada@example.com')
  await answer(running, 'password:', 'a long password')
  await answer(running, 'code of the second factor:', '123456')
  const { code, stderr } = await running.ended
  expect(code).toBe(3)
  const logins = server.requests.filter(({ route }) => route === 'POST /auth/login').map(({ body }) => body)
  expect(logins).toEqual([{ email: 'ada@example.com', password: 'a long password' }])
  expect(stderr).toContain('123456')
  expect(stderr).not.toContain('a long password')
})

test('Ctrl-C at a question ends the command', async () => {
  const running = start(['login'])
  await waitFor(() => running.stderr().includes('e-mail: '))
  running.type('\x03')
  expect(await running.ended).toMatchObject({ code: 2, stderr: expect.stringContaining('give --email') })
})

test('a table has colours, unless NO_COLOR is set', async () => {
  expect((await start(['environments', 'list']).ended).stdout).toContain('\x1b[1mID')
  expect((await start(['environments', 'list'], { env: { NO_COLOR: '1' } }).ended).stdout).not.toContain('\x1b')
})

test('--watch clears the terminal and lists again after a change, until Ctrl-C', async () => {
  const running = start(['environments', 'list', '--watch', '-o', 'name'])
  await waitFor(() => running.stdout().includes('blue'))
  const lists = server.requests.length
  await waitFor(() => server.requests.length > lists + 2)
  expect(running.stdout().match(/blue/g)).toHaveLength(1)
  names = ['green', 'blue']
  await waitFor(() => running.stdout().includes('green'))
  running.interrupt()
  const { code, stdout } = await running.ended
  expect(code).toBe(130)
  expect(stdout).toBe('\x1b[H\x1b[2J\x1b[3Jblue\n\x1b[H\x1b[2J\x1b[3Jgreen\nblue\n')
})
