// `deploy` and related subcommands against the running suite: exit codes, --wait, --follow over broken connections, the queue.
import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import {
  type Api,
  createAction,
  createLocalTarget,
  deploymentEnd,
  loginToSuite,
  type Suite,
  startSuite,
  startTcpProxy,
  waitFor,
} from '@slipway/testing'
import { parse } from 'yaml'
import { commandLineOf, type Ended, slipway, start } from './slipway.ts'

let suite: Suite
let api: Api
let cli: ReturnType<typeof commandLineOf>

beforeAll(async () => {
  suite = await startSuite({ capacity: 1 })
  api = await loginToSuite(suite)
  cli = commandLineOf(suite, api.token)
  await createLocalTarget(api, { name: 'one', tags: [{ key: 'role', value: 'web' }] })
  await createLocalTarget(api, { name: 'two', tags: [{ key: 'role', value: 'web' }] })
  await createAction(api, { script: 'echo "hello {{ name }}"', variables: [{ name: 'name', default: 'you' }] }, 'greet')
  await createAction(api, { script: 'echo oh no >&2; exit 7' }, 'fail')
  await createAction(api, { script: 'echo begun; sleep 600' }, 'sleep')
  const slow = 'for n in $(seq 40); do echo "line $n"; sleep 0.1; done'
  await createAction(api, { script: slow }, 'count')
})
afterAll(() => suite?.stop())

const ID = /[0-9a-f]{8}-[0-9a-f-]{27}/
const idIn = (text: string) => ID.exec(text)?.[0] ?? ''
const is = (ended: Ended, code: number) => expect({ ...ended }).toMatchObject({ code })

/** Starts a deployment that occupies the only slot until `free`. */
async function occupy() {
  const ended = await cli.run(['deploy', 'sleep', '-t', 'one'])
  is(ended, 0)
  const id = idIn(ended.stdout)
  return { id, free: () => cli.run(['cancel', id]) }
}

describe('exit codes', () => {
  test('0: the deployment succeeds, and --follow shows its log with the names of the targets', async () => {
    const ended = await cli.run([
      'deploy',
      'greet',
      '--tag',
      'role=web',
      '--mode',
      'parallel',
      '--var',
      'name=world',
      '--follow',
    ])
    is(ended, 0)
    expect(ended.stdout).toMatch(/^one \| hello world$/m)
    expect(ended.stdout).toMatch(/^two \| hello world$/m)
    expect(ended.stdout).toMatch(/ended: success/)
    expect(ended.stdout).not.toContain('\x1b')
  })

  test('1: the deployment fails, with the reason', async () => {
    const ended = await cli.run(['deploy', 'fail', '-t', 'one', '--wait'])
    is(ended, 1)
    expect(ended.stdout).toMatch(/one: fail: exit code 7/)
    expect(ended.stdout).not.toContain('oh no')
    const results = await cli.run(['results', idIn(ended.stdout), '--failed'])
    expect(results.stdout).toMatch(/fail on one: exit code 7\n {2}\| oh no/)
  })

  test.each([
    ['an unknown command', ['deplyo'], "unknown command 'deplyo'"],
    ['an unknown option', ['deploy', 'greet', '--targt', 'one'], 'Did you mean --target'],
    [
      'another version',
      ['deploy', 'greet', '-t', 'one', '--version', '1.0.0'],
      'for the version of a source use --source-version',
    ],
    ['an invalid value', ['deploy', 'greet', '--mode', 'rolling:0'], 'Allowed are sequential, parallel and rolling:N'],
    ['a variable without a value', ['deploy', 'greet', '--var', 'name'], 'Write it as NAME=TEXT'],
    ['a missing argument', ['deploy'], "missing required argument 'source'"],
    ['a prompt without a terminal', ['login', '--email', 'a@example.com'], 'give --password-stdin'],
  ])('2: %s', async (_, args, message) => {
    const ended = await cli.run(args)
    is(ended, 2)
    expect(ended.stderr).toContain(message)
  })

  test('2: no credential is given', async () => {
    const ended = await slipway(['whoami'], { env: { SLIPWAY_URL: suite.url } })
    is(ended, 2)
    expect(ended.stderr).toContain('SLIPWAY_API_KEY')
  })

  test.each([
    [
      'an unknown source',
      ['deploy', 'gree', '-t', 'one'],
      'there is no solution, sequence, action "gree"; there is "greet"',
    ],
    ['an unknown target', ['deploy', 'greet', '-t', 'three'], 'there is no target "three"'],
    ['no targets', ['deploy', 'greet'], 'VALIDATION_ERROR'],
    ['tags that no target has', ['deploy', 'greet', '--tag', 'role=db'], '/target_tags'],
    ['a missing file', ['deploy', 'greet', '-t', 'one', '--var-file', 'nowhere.env'], 'nowhere.env cannot be read'],
    ['an unknown deployment', ['logs', '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a3d'], 'NOT_FOUND'],
  ])('3: %s', async (_, args, message) => {
    const ended = await cli.run(args)
    is(ended, 3)
    expect(ended.stderr).toContain(message)
  })

  test('3: an invalid API key', async () => {
    is(await cli.run(['whoami'], { env: { SLIPWAY_TOKEN: 'svc_none' } }), 3)
  })

  test('3: a freeze refuses a deployment until the freeze is deleted', async () => {
    expect((await cli.run(['freeze', 'check'])).code).toBe(0)
    is(await cli.run(['freeze', 'create', 'audit', '--start', 'now', '--end', '+1h']), 0)
    try {
      is(await cli.run(['freeze', 'check']), 3)
      const ended = await cli.run(['deploy', 'greet', '-t', 'one'])
      is(ended, 3)
      expect(ended.stderr).toMatch(/DEPLOYMENT_FROZEN[\s\S]*audit, until/)
      const forced = await cli.run(['deploy', 'greet', '-t', 'one', '--override-freeze', 'a test', '--wait'])
      is(forced, 0)
    } finally {
      is(await cli.run(['freeze', 'delete', 'audit']), 0)
    }
  })

  test('3: freeze check finds every freeze in force, and with filters only those that cover the targets', async () => {
    const { body: environment } = await api.post('/environments', { name: 'production' })
    await createLocalTarget(api, { name: 'web-7', environment_id: environment.id })
    is(await cli.run(['freeze', 'create', 'closing', '-e', 'production', '--start', 'now', '--end', '+1h']), 0)
    try {
      const about = async (...args: string[]) => {
        const { code, stdout } = await cli.run(['freeze', 'check', ...args])
        return [code, stdout.includes('closing')]
      }
      expect(await about()).toEqual([3, true])
      expect(await about('-e', 'production')).toEqual([3, true])
      expect(await about('-t', 'one', '-t', 'web-7')).toEqual([3, true])
      expect(await about('-t', 'one')).toEqual([0, false])
      const refused = await cli.run(['deploy', 'greet', '-t', 'web-7'])
      is(refused, 3)
      expect(refused.stderr).toMatch(/closing, until .*, by targets web-7\n/)
    } finally {
      is(await cli.run(['freeze', 'delete', 'closing']), 0)
    }
  })

  test('4: another user cancels the deployment', async () => {
    const running = cli.start(['deploy', 'sleep', '-t', 'one', '--follow'])
    await waitFor(() => running.stdout().includes('begun'), { what: 'the command to begin' })
    is(await cli.run(['cancel', idIn(running.stdout()), '--reason', 'a test']), 0)
    const ended = await running.ended
    is(ended, 4)
    expect(ended.stdout).toMatch(/ended: cancelled in .*\n0 of 1 steps are complete\n/)
    const status = await cli.run(['status', idIn(ended.stdout)])
    expect(status.stdout).toMatch(/^progress: +0 of 1 steps are complete, 0 failed$/m)
    expect(status.stdout).toMatch(/^cancelled by: +admin\nreason: +a test$/m)
    expect((await cli.run(['status', '--limit', '1'])).stdout).toMatch(/cancelled +0\/1 /)
    for (const { stdout } of [ended, status]) expect(stdout).not.toContain('%')
  })

  test('5: the --timeout is over, and the deployment runs on', async () => {
    const ended = await cli.run(['deploy', 'sleep', '-t', 'one', '--wait', '--timeout', '1s'])
    is(ended, 5)
    const id = idIn(ended.stdout)
    expect(ended.stderr).toContain(`slipway logs ${id} --follow`)
    expect((await api.get(`/deployments/${id}`)).body.state).toBe('running')
    is(await cli.run(['cancel', id]), 0)
  })

  test('6: the server does not answer', async () => {
    const ended = await cli.run(['whoami', '--url', 'http://127.0.0.1:9'])
    is(ended, 6)
    expect(ended.stderr).toContain('does not answer at http://127.0.0.1:9')
  })
})

describe('Ctrl-C', () => {
  test('stops following and prints the subcommand to follow again', async () => {
    const running = cli.start(['deploy', 'sleep', '-t', 'one', '--follow'])
    await waitFor(() => running.stdout().includes('begun'), { what: 'the command to begin' })
    running.child.kill('SIGINT')
    const ended = await running.ended
    is(ended, 130)
    const id = idIn(ended.stdout)
    expect(ended.stderr).toContain(`slipway logs ${id} --follow`)
    expect((await api.get(`/deployments/${id}`)).body.state).toBe('running')
    is(await cli.run(['cancel', id]), 0)
  })

  test('cancels the deployment with --cancel-on-interrupt', async () => {
    const running = cli.start(['deploy', 'sleep', '-t', 'one', '--wait', '--cancel-on-interrupt'])
    await waitFor(() => ID.test(running.stdout()), { what: 'the deployment' })
    running.child.kill('SIGTERM')
    const ended = await running.ended
    is(ended, 4)
    expect((await api.get(`/deployments/${idIn(ended.stdout)}`)).body.state).toBe('cancelled')
  })

  test('before the answer of the server cancels the deployment after the answer', async () => {
    const proxy = await startForwarding(suite.url, async ({ method, url }) => {
      if (method !== 'POST' || !url?.endsWith('/deployments')) return
      running.child.kill('SIGINT')
      await sleep(300)
    })
    const arguments_ = ['deploy', 'sleep', '-t', 'one', '--wait', '--cancel-on-interrupt']
    const running = cli.start(arguments_, { env: { SLIPWAY_URL: proxy.url } })
    try {
      const ended = await running.ended
      is(ended, 4)
      expect((await api.get(`/deployments/${idIn(ended.stdout)}`)).body.state).toBe('cancelled')
    } finally {
      await proxy.close()
    }
  })
})

/** A proxy that forwards requests to `target` after `before`. */
async function startForwarding(target: string, before: (request: http.IncomingMessage) => Promise<void>) {
  const server = http.createServer(async (request, response) => {
    await before(request)
    const { method, headers } = request
    const onward = http.request(`${target}${request.url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    request.pipe(onward)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

describe('the queue', () => {
  test('can be waited in, listed, explained, reprioritized and left by a cancel', async () => {
    const first = await occupy()
    const waiting = cli.start(['deploy', 'greet', '-t', 'two', '--follow'])
    await waitFor(() => waiting.stdout().includes('queued, position 1'), { what: 'the position in the queue' })
    const request = idIn(waiting.stdout())
    const other = await cli.run(['deploy', 'greet', '-t', 'two'])
    expect(other.stdout).toContain('queued as')
    const second = idIn(other.stdout)
    const explained = (await cli.run(['pending', 'why', second])).stdout
    for (const fact of [/position: +2/, /source: +greet 1\.0\.0/, /targets: +two$/m]) expect(explained).toMatch(fact)
    expect((await cli.run(['pending', 'list'])).stdout).toMatch(
      new RegExp(`^2 +${second} +pending +0 +greet 1\\.0\\.0 +- +two `, 'm'),
    )
    await api.post('/tenants', { name: 'somebody-else' })
    expect((await cli.run(['pending', 'list', '--tenant', 'somebody-else'])).stdout).toContain('no pending requests')
    is(await cli.run(['pending', 'reprioritize', second, '--priority', '-5']), 0)
    expect((await cli.run(['pending', 'list', '-o', 'json'])).stdout).toContain('"priority": -5')
    is(await cli.run(['pending', 'cancel', second]), 0)
    is(await cli.run(['pending', 'cancel', second]), 3)
    is(await first.free(), 0)
    const ended = await waiting.ended
    is(ended, 0)
    expect(ended.stdout).toContain('two | hello you')
    expect(ended.stdout).toContain(`queued as ${request}`)
  })

  test('loses a cancelled request, whose --wait ends with 4', async () => {
    const first = await occupy()
    const waiting = cli.start(['deploy', 'greet', '-t', 'two', '--wait'])
    await waitFor(() => waiting.stdout().includes('queued, position 1'), { what: 'the position in the queue' })
    is(await cli.run(['pending', 'cancel', idIn(waiting.stdout())]), 0)
    is(await waiting.ended, 4)
    is(await first.free(), 0)
  })
})

describe('following', () => {
  const lines = (text: string) => [...text.matchAll(/^one \| (line \d+)$/gm)].map(([, line]) => line)
  const wanted = Array.from({ length: 40 }, (_, n) => `line ${n + 1}`)

  test('continues without gap or repetition after its connection was killed several times', async () => {
    const proxy = await startTcpProxy(suite.url)
    try {
      const running = cli.start(['deploy', 'count', '-t', 'one', '--follow'], { env: { SLIPWAY_URL: proxy.url } })
      for (const line of ['line 3\n', 'line 12\n', 'line 25\n']) {
        await waitFor(() => running.stdout().includes(line), { what: line })
        proxy.cut()
      }
      await waitFor(() => running.stdout().includes('line 30\n'), { what: 'line 30' })
      proxy.refuse(true)
      await waitFor(async () => (await api.get('/deployments?limit=1')).body.data[0].state === 'success')
      proxy.refuse(false)
      const ended = await running.ended
      is(ended, 0)
      expect(lines(ended.stdout)).toEqual(wanted)
    } finally {
      await proxy.close()
    }
  })

  test('prints the log of an ended deployment from a line, filtered, searched, as JSON, into a file and into a closing pipe', async () => {
    const { stdout } = await cli.run(['deploy', 'count', '-t', 'one'])
    const id = idIn(stdout)
    const live = await cli.run(['logs', id, '--follow', '--search', 'LINE 2', '--action', 'count', '--level', 'info'])
    expect(lines(live.stdout)).toEqual(wanted.filter((line) => line.startsWith('line 2')))
    await deploymentEnd(api, id)
    expect(lines((await cli.run(['logs', id, '--follow'])).stdout)).toEqual(wanted)
    expect(lines((await cli.run(['logs', id, '--from', '30'])).stdout)).toEqual(wanted.slice(30))
    expect(lines((await cli.run(['logs', id, '--target', 'two'])).stdout)).toEqual([])
    expect(lines((await cli.run(['logs', id, '--target', 'two', '-t', 'one'])).stdout)).toEqual(wanted)
    const chosen = [
      '--search',
      'LINE 4',
      '--action',
      'count',
      '--target',
      'one',
      '--level',
      'info',
      '--stream',
      'stdout',
    ]
    expect(lines((await cli.run(['logs', id, ...chosen])).stdout)).toEqual(['line 4', 'line 40'])
    expect(lines((await cli.run(['logs', id, '--level', 'error'])).stdout)).toEqual([])
    is(await cli.run(['logs', id, '--stream', 'stdout', '--follow']), 2)
    const json = (await cli.run(['logs', id, '-o', 'json'])).stdout.trim().split('\n')
    expect(json.map((line) => JSON.parse(line).message)).toEqual(wanted)

    const file = path.join(suite.folder, 'log.txt')
    const env = { ...cli.env, NODE: process.execPath, CLI: 'packages/cli/bin/slipway.mjs' }
    await start('bash', ['-c', `"$NODE" "$CLI" logs ${id} >${file}`], { env }).ended
    expect(lines(fs.readFileSync(file, 'utf8'))).toEqual(wanted)
    const script = `set -o pipefail; "$NODE" "$CLI" logs ${id} | head -n 1`
    expect(await start('bash', ['-c', script], { env }).ended).toMatchObject({
      code: 0,
      stdout: 'one | line 1\n',
      stderr: '',
    })
  })
})

describe('on a terminal', () => {
  /** Runs the command line on its own terminal and captures what the terminal shows. */
  const onTerminal = (args: string, env: Record<string, string>, stdin: string | null = '') =>
    start('script', ['-qefc', `"$NODE" packages/cli/bin/slipway.mjs ${args}`, '/dev/null'], {
      env: { ...env, NODE: process.execPath, TERM: 'xterm' },
      stdin,
    })

  test('a progress bar for each target is below the log', async () => {
    const ended = await onTerminal('deploy greet --tag role=web --follow', cli.env).ended
    is(ended, 0)
    expect(ended.stdout).toMatch(
      /one \[#{20}\] 1\/1\r\ntwo \[#{20}\] 1\/1\r\n\[#{20}\] 2 of 2 steps are complete, running/,
    )
    expect(ended.stdout).toContain('\x1b[32mdeployment')
    expect((await onTerminal('status', { ...cli.env, NO_COLOR: '1' }).ended).stdout).not.toContain('\x1b')
  })

  test('a typed password is not shown', async () => {
    const env = { SLIPWAY_URL: suite.url, XDG_CONFIG_HOME: path.join(suite.folder, 'terminal') }
    const running = onTerminal('login', env, null)
    const type = (text: string) => running.child.stdin?.write(`${text}\r`)
    await waitFor(() => running.stdout().includes('e-mail: '), { what: 'the question for the e-mail' })
    type(suite.admin.email)
    await waitFor(() => running.stdout().includes('password: '), { what: 'the question for the password' })
    type(suite.admin.password)
    await waitFor(() => running.stdout().includes('logged in to'), { what: 'the login' })
    running.child.stdin?.end()
    const ended = await running.ended
    is(ended, 0)
    expect(ended.stdout).toContain(suite.admin.email)
    expect(ended.stdout).not.toContain(suite.admin.password)
  })
})

describe('output for programs', () => {
  test('json and yaml have the same content, and stdout has nothing else', async () => {
    const json = await cli.run(['deploy', 'greet', '-t', 'one', '--follow', '-o', 'json'])
    is(json, 0)
    expect(JSON.parse(json.stdout)).toMatchObject({ state: 'success', action_name: 'greet' })
    expect(json.stderr).toContain('one | hello you')
    const { id } = JSON.parse(json.stdout)
    expect(parse((await cli.run(['status', id, '-o', 'yaml'])).stdout)).toMatchObject({ id, state: 'success' })
    expect(JSON.parse((await cli.run(['status', '-o', 'json', '--limit', '1'])).stdout)).toHaveLength(1)
  })
})

describe('a plan', () => {
  test('is shown by preview and --dry-run, and --expect-plan refuses another plan', async () => {
    const preview = await cli.run(['preview', 'greet', '-t', 'one'])
    is(preview, 0)
    expect(preview.stdout).toMatch(/action greet 1\.0\.0[\s\S]*1\. greet[\s\S]*name = "you"/)
    const dry = await cli.run(['deploy', 'greet', '-t', 'one', '--dry-run'])
    expect(dry).toEqual(preview)
    const hash = /--expect-plan (\S+)/.exec(preview.stdout)?.[1] ?? ''
    is(await cli.run(['deploy', 'greet', '-t', 'one', '--expect-plan', hash, '--wait']), 0)
    const other = await cli.run(['deploy', 'greet', '-t', 'one', '--var', 'name=x', '--expect-plan', hash])
    is(other, 3)
    expect(other.stderr).toContain('CONFLICT')
  })
})

describe('warnings', () => {
  test('of deploy and redeploy are on stderr, and --strict refuses a deployment with warnings', async () => {
    const warning = 'Variable "nmae" is given and not used: no definition, script or template names it'
    const request = ['deploy', 'greet', '-t', 'one', '--var', 'nmae=x']
    const waited = await cli.run([...request, '--wait'])
    is(waited, 0)
    expect(waited.stderr).toBe(`warning: ${warning}\n`)
    const answered = await cli.run(['redeploy', idIn(waited.stdout), '-o', 'json'])
    is(answered, 0)
    expect([answered.stderr, JSON.parse(answered.stdout).warnings]).toEqual([`warning: ${warning}\n`, [warning]])
    await deploymentEnd(api, JSON.parse(answered.stdout).id)
    for (const args of [request, ['preview', ...request.slice(1)], ['redeploy', idIn(waited.stdout)]]) {
      const refused = await cli.run([...args, '--strict'])
      is(refused, 3)
      expect(refused.stderr).toContain(`VALIDATION_ERROR)`)
      expect(refused.stderr).toContain(`\n  ${warning}\n`)
    }
    is(await cli.run(['deploy', 'greet', '-t', 'one', '--var', 'name=x', '--strict', '--wait']), 0)
  })
})

describe('running again', () => {
  test('the same idempotency key creates no second deployment', async () => {
    const deploy = () => cli.run(['deploy', 'greet', '-t', 'one', '--idempotency-key', 'build-7', '--wait'])
    const [first, second] = [await deploy(), await deploy()]
    is(first, 0)
    is(second, 0)
    expect(idIn(second.stdout)).toBe(idIn(first.stdout))
  })

  test('redeploy --only-failed runs on all targets that are not complete, with the skipped ones', async () => {
    const { stdout } = await cli.run(['deploy', 'fail', '--tag', 'role=web', '--wait'])
    const dry = await cli.run(['redeploy', idIn(stdout), '--only-failed', '--dry-run'])
    is(dry, 0)
    expect(dry.stdout).toMatch(/2 steps: on each target\n {2}1\. fail\n\n2 targets: [\s\S]*\n {2}one\n {2}two\n/)
    const again = await cli.run(['redeploy', idIn(stdout), '--only-failed', '--wait'])
    is(again, 1)
    expect(again.stdout).toMatch(/^one +failed/m)
    expect(again.stdout).toMatch(/^two +not touched/m)
  })
})

describe('people', () => {
  test('list targets and instances, and take them out of service', async () => {
    expect((await cli.run(['targets', 'list', '--tag', 'role=web'])).stdout).toMatch(/one +online +- +local/)
    is(await cli.run(['targets', 'disable', 'two']), 0)
    expect((await cli.run(['targets', 'show', 'two'])).stdout).toMatch(/enabled: +no/)
    is(await cli.run(['targets', 'enable', 'two']), 0)
    const [instance] = JSON.parse((await cli.run(['instances', 'list', '-o', 'json'])).stdout)
    is(await cli.run(['instances', 'drain', instance.name]), 0)
    expect((await cli.run(['instances', 'list'])).stdout).toContain('draining')
    is(await cli.run(['instances', 'resume', instance.name]), 0)
  })

  test('log in by e-mail and password, and make keys and users', async () => {
    const env = { SLIPWAY_URL: suite.url, XDG_CONFIG_HOME: path.join(suite.folder, 'xdg') }
    const { email, password } = suite.admin
    is(await slipway(['login', '--email', email, '--password-stdin'], { env, stdin: 'wrong password\n' }), 3)
    is(await slipway(['login', '--email', email, '--password-stdin'], { env, stdin: `${password}\n` }), 0)
    const file = path.join(env.XDG_CONFIG_HOME, 'slipway/config.json')
    expect(fs.statSync(file).mode & 0o777).toBe(0o600)
    expect((await slipway(['whoami'], { env })).stdout).toContain(email)

    const created = await slipway(['keys', 'create', 'ci', '--scope', 'deployments:read'], { env })
    is(created, 0)
    const key = created.stdout.trim()
    const withKey = await slipway(['whoami'], { env: { SLIPWAY_URL: suite.url, SLIPWAY_API_KEY: key } })
    expect(withKey.stdout).toMatch(/^API key: +ci$/m)
    expect(key).toMatch(/^svc_\S+$/)
    const asPipeline = { SLIPWAY_URL: suite.url, SLIPWAY_API_KEY: key }
    is(await slipway(['status'], { env: asPipeline }), 0)
    is(await slipway(['targets', 'list'], { env: asPipeline }), 3)
    is(await slipway(['cancel', '@last'], { env: asPipeline }), 3)

    const user = ['users', 'create', 'ann@example.com', '--username', 'ann', '--role', 'operator', '--password-stdin']
    is(await slipway(user, { env, stdin: 'a password of some length\n' }), 0)
    is(await slipway(['users', 'change', 'ann@example.com', '--status', 'suspended'], { env }), 0)
    expect((await slipway(['users', 'list'], { env })).stdout).toMatch(/ann@example\.com +ann +suspended +operator/)
    is(await slipway(['users', 'delete', 'ann@example.com'], { env }), 0)
    const { stdout: records } = await slipway(['audit', '--limit', '20'], { env })
    expect(records).toMatch(/admin +- +\S+ +user\.delete/)
    expect(records).toMatch(/admin +ci +\S+ +deployment\.cancel/)

    fs.chmodSync(file, 0o644)
    const open = await slipway(['whoami'], { env })
    is(open, 3)
    expect(open.stderr).toContain('chmod 600')
    fs.chmodSync(file, 0o600)
    is(await slipway(['logout'], { env }), 0)
    is(await slipway(['whoami'], { env }), 2)
  })
})
