// `deploy` and its plan, its exit codes, the queue of a held target, and running again.
import { beforeAll, describe, expect, test } from '@jest/globals'
import { createAction, deploymentEnd, openTenant, type TestTenant, waitFor } from '@slipway/testing'
import { parse } from 'yaml'
import { type CommandLine, createFolder, expectExit, findId, openCommandLine } from './command-line.ts'

const home = createFolder()
let tenant: TestTenant
let cli: CommandLine

beforeAll(async () => {
  tenant = await openTenant()
  cli = openCommandLine(tenant, home)
  const { api } = tenant
  const web = { tags: [{ key: 'role', value: 'web' }] }
  await Promise.all([
    tenant.createLocalTarget({ name: 'one', ...web }),
    tenant.createLocalTarget({ name: 'two', ...web }),
    tenant.createLocalTarget({ name: 'held', concurrency: 'queue', environment_id: tenant.environment }),
    createAction(api, { script: 'echo "hello {{ name }}"', variables: [{ name: 'name', default: 'you' }] }, 'greet'),
    createAction(api, { script: 'echo oh no >&2; exit 7' }, 'fail'),
    createAction(api, { script: 'sleep 600' }, 'sleep'),
  ])
})

describe('the exit code', () => {
  test('is 0 after a success; --follow shows the log with the names of the targets', async () => {
    const options = ['--tag', 'role=web', '--mode', 'parallel', '--var', 'name=world', '--follow']
    const stdout = await cli.succeed('deploy', 'greet', ...options)
    expect(stdout).toMatch(/^one \| hello world$/m)
    expect(stdout).toMatch(/^two \| hello world$/m)
    expect(stdout).toMatch(/ended: success/)
  })

  test('is 1 after a failure, and redeploy --only-failed includes the targets that were not reached', async () => {
    const ended = await cli.run(['deploy', 'fail', '--tag', 'role=web', '--wait'])
    expectExit(ended, 1)
    expect(ended.stdout).toMatch(/one: fail: exit code 7/)
    expect(ended.stdout).not.toContain('oh no')
    const results = await cli.succeed('results', '@last', '--failed')
    expect(results).toMatch(/fail on one: exit code 7\n {2}\| oh no/)

    const dry = await cli.succeed('redeploy', '@last', '--only-failed', '--dry-run')
    expect(dry).toMatch(/2 steps: on each target\n {2}1\. fail 1\.0\.0\n\n2 targets: [\s\S]*\n {2}one\n {2}two\n/)
    const again = await cli.run(['redeploy', '@last', '--only-failed', '--wait'])
    expectExit(again, 1)
    expect(again.stdout).toMatch(/^one +failed/m)
    expect(again.stdout).toMatch(/^two +not touched/m)
  })

  test('is 3 after a refusal of the server', async () => {
    const ended = await cli.run(['deploy', 'greet', '--tag', 'role=db'])
    expectExit(ended, 3)
    expect(ended.stderr).toContain('no target has the tag role=db; did you mean role=web?')
  })

  test('is 3 during a freeze, until the freeze is overridden or deleted', async () => {
    await cli.succeed('freezes', 'create', 'closing', '-e', 'production', '--start', 'now', '--end', '+1h')
    const check = async (...args: string[]) => (await cli.run(['freezes', 'check', ...args])).code
    expect([await check(), await check('-t', 'held'), await check('-t', 'one')]).toEqual([7, 7, 0])
    const refused = await cli.run(['deploy', 'greet', '-t', 'held'])
    expectExit(refused, 3)
    expect(refused.stderr).toMatch(/DEPLOYMENT_FROZEN[\s\S]*closing, until .*, by targets held\n/)
    const forced = await cli.run(['deploy', 'greet', '-t', 'held', '--override-freeze', 'a test', '--wait'])
    expectExit(forced, 0)
    await cli.succeed('freezes', 'delete', 'closing', '--yes')
    expect(await check()).toBe(0)
  })

  test('is 4 if another user cancels the deployment', async () => {
    const running = cli.start(['deploy', 'sleep', '-t', 'one', '--wait'])
    await waitFor(() => findId(running.stdout()) !== '', { what: 'the deployment' })
    await cli.succeed('cancel', '@last', '--reason', 'a test')
    const ended = await running.ended
    expectExit(ended, 4)
    expect(ended.stdout).toMatch(/ended: cancelled in .*\n0 of 1 steps are complete\n/)
    const status = await cli.succeed('status', '@last')
    expect(status).toMatch(/^progress: +0 of 1 steps are complete, 0 failed$/m)
    expect(status).toMatch(new RegExp(`^cancelled by: +${tenant.username}\\nreason: +a test$`, 'm'))
  })

  test('is 5 if the time of --timeout is over, and the deployment goes on', async () => {
    const ended = await cli.run(['deploy', 'sleep', '-t', 'one', '--wait', '--timeout', '1ms'])
    expectExit(ended, 5)
    const id = findId(ended.stdout)
    expect(ended.stderr).toContain(`slipway logs ${id} --follow`)
    expect((await tenant.api.get(`/deployments/${id}`)).body.state).toBe('running')
    await cli.succeed('cancel', id)
  })
})

test('a plan is shown by preview and --dry-run, and --expect-plan refuses another one', async () => {
  const preview = await cli.succeed('preview', 'greet', '-t', 'one')
  expect(preview).toMatch(/action greet 1\.0\.0[\s\S]*1\. greet[\s\S]*name = "you"/)
  expect(await cli.succeed('deploy', 'greet', '-t', 'one', '--dry-run')).toBe(preview)
  const [, hash = ''] = /--expect-plan (\S+)/.exec(preview) ?? []
  await cli.succeed('deploy', 'greet', '-t', 'one', '--expect-plan', hash, '--wait')
  const other = await cli.run(['deploy', 'greet', '-t', 'one', '--var', 'name=x', '--expect-plan', hash])
  expectExit(other, 3)
  expect(other.stderr).toContain('CONFLICT')
})

test('warnings of deploy and redeploy are on stderr, and --strict refuses them', async () => {
  const warning =
    'Variable "nmae" is given and not used: no definition, script or template names it; did you mean name?'
  const request = ['deploy', 'greet', '-t', 'one', '--var', 'nmae=x']
  const deployed = await cli.run([...request, '--wait'])
  expect(deployed).toMatchObject({ code: 0, stderr: `warning: ${warning}\n` })
  const again = await cli.run(['redeploy', '@last', '-o', 'json'])
  expect(again).toMatchObject({ code: 0, stderr: `warning: ${warning}\n` })
  expect(JSON.parse(again.stdout).warnings).toEqual([warning])
  await deploymentEnd(tenant.api, JSON.parse(again.stdout).id)
  for (const args of [request, ['redeploy', '@last']]) {
    const refused = await cli.run([...args, '--strict'])
    expectExit(refused, 3)
    expect(refused.stderr).toContain(`\n  ${warning}\n`)
  }
})

test('the same idempotency key creates no second deployment', async () => {
  const deploy = () => cli.succeed('deploy', 'greet', '-t', 'one', '--idempotency-key', 'build-7', '--wait')
  expect(findId(await deploy())).toBe(findId(await deploy()))
})

test('for programs, stdout has nothing but JSON or YAML, and the log is on stderr', async () => {
  const ended = await cli.run(['deploy', 'greet', '-t', 'one', '--follow', '-o', 'json'])
  expectExit(ended, 0)
  const { id, ...deployment } = JSON.parse(ended.stdout)
  expect(deployment).toMatchObject({ state: 'success', action_name: 'greet' })
  expect(ended.stderr).toContain('one | hello you')
  expect(parse(await cli.succeed('status', id, '-o', 'yaml'))).toMatchObject({ id, state: 'success' })
  expect(JSON.parse(await cli.succeed('status', '-o', 'json', '--limit', '1'))).toHaveLength(1)
})

describe('the queue', () => {
  /** Starts a deployment that holds its target until the cancel. */
  const hold = async () => findId(await cli.succeed('deploy', 'sleep', '-t', 'held'))
  const queue = () => cli.succeed('deploy', 'greet', '-t', 'held')

  test('can be waited in, listed, explained, reprioritized and left', async () => {
    const holder = await hold()
    const waiting = cli.start(['deploy', 'greet', '-t', 'held', '--follow'])
    await waitFor(() => /queued, position \d+: Waits for the target "held"/.test(waiting.stdout()))
    const blocked = /blocked by\n {2}target lock with no known end\n[\s\S]*Waits for the target "held"/
    expect((await cli.run(['preview', 'greet', '-t', 'held'])).stdout).toMatch(blocked)

    const queued = await queue()
    expect(queued).toContain('queued as')
    const second = findId(queued)
    const explained = await cli.succeed('pending', 'why', '@last')
    const heldTarget = new RegExp(`^held target: +held, by ${holder} since `, 'm')
    for (const fact of [/^source: +greet 1\.0\.0$/m, /^targets: +held$/m, heldTarget]) expect(explained).toMatch(fact)
    await cli.succeed('pending', 'reprioritize', second, '--priority', '-5')
    const listed = JSON.parse(await cli.succeed('pending', 'list', '-o', 'json'))
    expect(listed).toMatchObject([{ priority: 0 }, { id: second, priority: -5 }])
    const results = await cli.run(['results', '@last'])
    expect(results).toMatchObject({ code: 3, stderr: expect.stringContaining('waits in the queue') })
    await cli.succeed('cancel', '@last')
    expect(await cli.run(['watch', '@last'])).toMatchObject({ code: 4 })

    await cli.succeed('cancel', holder)
    const ended = await waiting.ended
    expectExit(ended, 0)
    expect(ended.stdout).toContain('held | hello you')
    // The id of a request that has started means its deployment.
    expect(await cli.succeed('logs', findId(ended.stdout))).toContain('held | hello you')
  })
})
