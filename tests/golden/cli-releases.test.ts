// Which release is in force where, what a deployment changed, --only-changed, and rollback.
import { beforeAll, describe, expect, test } from '@jest/globals'
import { createAction, openTenant, type TestTenant } from '@slipway/testing'
import { type CommandLine, createFolder, expectExit, findId, openCommandLine } from './command-line.ts'

const home = createFolder()
const time = '\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d(:\\d\\d)? \\S+'
let tenant: TestTenant
let cli: CommandLine
let user: string
/** As the command line shows the environment of a tenant. */
let place: string
/** `one` and `two` get 1.0.0, then `two` gets 1.1.0, and finally 1.2.0 fails on `one`. */
let [first, second, failed] = ['', '', '']

const variables = [{ name: 'name', default: 'you' }]
async function publish(action: string, version: string, script: string) {
  const definition = { type: 'script', script, variables }
  const { status } = await tenant.api.post(`/actions/${action}/versions`, { version, definition })
  expect(status).toBe(201)
}

beforeAll(async () => {
  tenant = await openTenant()
  cli = openCommandLine(tenant, home)
  user = tenant.username
  place = `${(await tenant.api.get(`/tenants/${tenant.id}`)).body.name}, production`
  const web = { tags: [{ key: 'role', value: 'web' }], environment_id: tenant.environment }
  await tenant.createLocalTarget({ name: 'one', ...web })
  await tenant.createLocalTarget({ name: 'two', ...web, tags: [...web.tags, { key: 'canary', value: 'yes' }] })
  const greet = await createAction(tenant.api, { script: 'echo "{{ name }}"', variables }, 'greet')
  first = findId(await cli.succeed('deploy', 'greet', '--tag', 'role=web', '--wait'))
  await publish(greet, '1.1.0', 'echo "hello {{ name }}"')
  second = findId(await cli.succeed('deploy', 'greet', '-t', 'two', '--var', 'name=all', '--wait'))
  await publish(greet, '1.2.0', 'echo "{{ name }}"; exit 7')
  const ended = await cli.run(['deploy', 'greet', '-t', 'one', '--wait'])
  expectExit(ended, 1)
  failed = findId(ended.stdout)
})

describe('where', () => {
  test('shows the version in force on each target, and a failed last attempt', async () => {
    const [head, one, two, ...rest] = (await cli.succeed('where', 'greet')).split('\n')
    expect(head).toMatch(/^TARGET +ENVIRONMENT +VERSION +WHEN +BY +LAST ATTEMPT$/)
    const attempt = `1\\.2\\.0 failed ${time} by ${user}`
    expect(one).toMatch(new RegExp(`^one +${place} +1\\.0\\.0 +${time} +${user} +${attempt}$`))
    expect(two).toMatch(new RegExp(`^two +${place} +1\\.1\\.0 +${time} +${user} +-$`))
    expect(rest).toEqual([''])
  })

  test.each([
    [['--source-version', '1.1.0'], 'two\n'],
    [['--state', 'failed'], 'one\n'],
    [['--tag', 'canary=yes'], 'two\n'],
    [['-e', 'production'], 'one\ntwo\n'],
  ])('%j shows %j', async (filter, targets) => {
    expect(await cli.succeed('where', 'greet', ...filter, '-o', 'name')).toBe(targets)
  })
})

test('on shows the releases in force on a target, and with --history all attempts there', async () => {
  expect(await cli.succeed('on', 'one')).toMatch(/^greet +action +1\.0\.0 .* 1\.2\.0 failed/m)
  const [, last, before, ...rest] = (await cli.succeed('on', 'one', '--history')).split('\n')
  expect(last).toMatch(new RegExp(`^${time} +greet +action +1\\.2\\.0 +failed +.* ${user} +${failed}$`))
  expect(before).toMatch(new RegExp(`^${time} +greet +action +1\\.0\\.0 +applied, in force .*${first}$`))
  expect(rest).toEqual([''])
})

test('matrix shows mixed versions and how many attempts failed', async () => {
  const [head, greet] = (await cli.succeed('matrix')).split('\n')
  expect(head).toMatch(new RegExp(`^SOURCE +KIND +${place}$`))
  expect(greet).toMatch(/^greet +action +1\.1\.0 ×1, 1\.0\.0 ×1, 1 failed$/)
  expect(await cli.succeed('matrix', '--search', 'other')).toBe('nothing is deployed\n')
})

test('changes shows the releases that a deployment replaced', async () => {
  const lines = (await cli.succeed('changes', second)).split('\n')
  expect(lines.slice(0, 2)).toEqual(['action greet 1.1.0', '1.0.0 -> 1.1.0 on 1 target: two'])
  expect(lines[2]).toContain(`by ${user}, deployment ${first}`)
  expect(lines.slice(3)).toEqual(['  action greet: 1.0.0 -> 1.1.0', '  name: "you" -> "all"', ''])
  expect(await cli.succeed('changes', first)).toContain('nothing -> 1.0.0 on 2 targets: one, two')
})

test('deployments are listed by source, version, target, user and time', async () => {
  const list = (...filters: string[]) => cli.succeed('deployments', ...filters, '--select', 'id')
  expect(await list('--source', 'greet', '--source-version', '1.0.0')).toBe(`${first}\n`)
  expect(await list('--target', 'one', '--state', 'failed')).toBe(`${failed}\n`)
  expect(await list('--target', 'two', '--triggered-by', user, '--since', '1d')).toBe(`${second}\n${first}\n`)
  expect(await list('--until', '1d')).toBe('')
})

test('--only-changed leaves out unchanged targets, and succeeds if none is left', async () => {
  const deploy = ['deploy', 'greet', '--source-version', '1.1.0', '--var', 'name=all', '--tag', 'role=web']
  const plan = await cli.succeed(...deploy, '--dry-run')
  expect(plan).toMatch(/^unchanged: 1 target .*--only-changed.*: two$/m)
  expect(plan).toMatch(/^ {2}1\.0\.0 -> 1\.1\.0 on 1 target: one$/m)
  const deployed = await cli.succeed(...deploy, '--only-changed', '--wait')
  expect(deployed).toContain('left out: 1 target')
  expect(deployed).toMatch(/^one +success/m)
  expect(deployed).not.toMatch(/^two /m)
  expect(await cli.succeed('status', '@last')).toMatch(/^left out: +1 target /m)
  for (const options of [['--wait'], ['--dry-run']]) {
    const none = await cli.succeed(...deploy, '--only-changed', ...options)
    expect(none).toMatch(/^nothing to deploy: .* on 2 targets$/m)
  }
})

test('rollback deploys the former release, only after a confirmation', async () => {
  const version = () => cli.succeed('where', 'site', '--select', 'version')
  const site = await createAction(tenant.api, { script: 'echo first' }, 'site')
  await cli.succeed('deploy', 'site', '-t', 'two', '--wait')
  const unable = await cli.run(['rollback', 'site', '--yes'])
  expect(unable).toMatchObject({ code: 3, stderr: expect.stringContaining('no release before') })

  await publish(site, '2.0.0', 'echo second')
  await cli.succeed('deploy', 'site', '-t', 'two', '--wait')
  const unasked = await cli.run(['rollback', 'site'])
  expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') })
  const plan = await cli.succeed('rollback', 'site', '--dry-run')
  const [, hash = ''] = /--expect-plan (\S+)/.exec(plan) ?? []
  const changed = await cli.run(['rollback', 'site', '--yes', '--expect-plan', `x${hash}`])
  expect(changed).toMatchObject({ code: 3, stderr: expect.stringContaining('the plan is not the expected one') })
  expect(await version()).toBe('2.0.0\n')
  expect(await cli.succeed('rollback', 'site', '--yes', '--follow', '--expect-plan', hash)).toContain('two | first')
  expect(await version()).toBe('1.0.0\n')
  // 2.0.0 was left, so the second rollback does not bring it back.
  const again = await cli.run(['rollback', 'site', '--yes'])
  expect(again).toMatchObject({ code: 3, stderr: expect.stringContaining('no release before the present one differs') })
})
