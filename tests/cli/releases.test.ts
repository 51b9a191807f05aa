// Subcommands for releases against the running suite: two versions on two targets, and a failed attempt.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Api, createLocalTarget, loginToSuite, type Suite, startSuite } from '@slipway/testing'
import { commandLineOf, type Ended } from './slipway.ts'

let suite: Suite
let api: Api
let cli: ReturnType<typeof commandLineOf>

const ID = /[0-9a-f]{8}-[0-9a-f-]{27}/
const idIn = (text: string) => ID.exec(text)?.[0] ?? ''
const is = (ended: Ended, code: number) => expect({ ...ended }).toMatchObject({ code })
const time = '\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d \\S+'

/** Runs a subcommand that must succeed. Returns its output. */
async function succeed(...args: string[]): Promise<string> {
  const ended = await cli.run(args)
  is(ended, 0)
  return ended.stdout
}

/** Publishes a version of the action `greet`. */
async function publish(actionId: string, version: string, script: string) {
  const definition = { type: 'script', script, variables: [{ name: 'name', default: 'you' }] }
  const { status } = await api.post(`/actions/${actionId}/versions`, { version, definition })
  expect(status).toBe(201)
}

/** Both targets get 1.0.0, then `two` gets 1.1.0, and finally 1.2.0 fails on `one`. */
const deployments: Record<'first' | 'second' | 'failed', string> = { first: '', second: '', failed: '' }
beforeAll(async () => {
  suite = await startSuite()
  api = await loginToSuite(suite)
  cli = commandLineOf(suite, api.token)
  const { body: environment } = await api.post('/environments', { name: 'production' })
  const web = { tags: [{ key: 'role', value: 'web' }], environment_id: environment.id }
  await createLocalTarget(api, { name: 'one', ...web })
  await createLocalTarget(api, { name: 'two', ...web, tags: [...web.tags, { key: 'canary', value: 'yes' }] })
  const definition = { type: 'script', script: 'echo "{{ name }}"', variables: [{ name: 'name', default: 'you' }] }
  const { body: action } = await api.post('/actions', { name: 'greet', version: '1.0.0', definition })
  deployments.first = idIn(await succeed('deploy', 'greet', '--tag', 'role=web', '--wait'))
  await publish(action.id, '1.1.0', 'echo "hello {{ name }}"')
  deployments.second = idIn(await succeed('deploy', 'greet', '-t', 'two', '--var', 'name=all', '--wait'))
  await publish(action.id, '1.2.0', 'echo "{{ name }}"; exit 7')
  const failed = await cli.run(['deploy', 'greet', '-t', 'one', '--wait'])
  is(failed, 1)
  deployments.failed = idIn(failed.stdout)
})
afterAll(() => suite?.stop())

describe('where', () => {
  test('shows the version in force on each target, and a failed last attempt', async () => {
    const [head, one, two, ...rest] = (await succeed('where', 'greet')).split('\n')
    expect(head).toMatch(/^TARGET +ENVIRONMENT +VERSION +WHEN +BY +LAST ATTEMPT$/)
    expect(one).toMatch(new RegExp(`^one +production +1\\.0\\.0 +${time} +admin +1\\.2\\.0 failed ${time} by admin$`))
    expect(two).toMatch(new RegExp(`^two +production +1\\.1\\.0 +${time} +admin +-$`))
    expect(rest).toEqual([''])
  })

  test.each([
    [['--source-version', '1.1.0'], ['two']],
    [['--source-version', '1.2.0'], []],
    [['--state', 'failed'], ['one']],
    [['--tag', 'canary=yes'], ['two']],
    [
      ['-e', 'production'],
      ['one', 'two'],
    ],
  ])('%j shows %j', async (filter, targets) => {
    const found = JSON.parse(await succeed('where', 'greet', ...filter, '-o', 'json')) as { target_name: string }[]
    expect(found.map(({ target_name }) => target_name)).toEqual(targets)
  })

  test('3: there is no such source or environment', async () => {
    is(await cli.run(['where', 'gree']), 3)
    is(await cli.run(['where', 'greet', '-e', 'staging']), 3)
  })
})

test('on shows the releases in force on a target, and with --history all attempts there', async () => {
  expect(await succeed('on', 'one')).toMatch(/^greet +action +1\.0\.0 .* 1\.2\.0 failed/m)
  const [, last, first, ...rest] = (await succeed('on', 'one', '--history')).split('\n')
  expect(last).toMatch(new RegExp(`^${time} +greet +action +1\\.2\\.0 +failed +.* admin +${deployments.failed}$`))
  expect(first).toMatch(new RegExp(`^${time} +greet +action +1\\.0\\.0 +applied, in force .*${deployments.first}$`))
  expect(rest).toEqual([''])
  is(await cli.run(['on', 'three']), 3)
})

test('matrix shows mixed versions and how many attempts failed', async () => {
  const [head, greet, ...rest] = (await succeed('matrix')).split('\n')
  expect(head).toMatch(/^SOURCE +KIND +production$/)
  expect(greet).toMatch(/^greet +action +1\.1\.0 ×1, 1\.0\.0 ×1, 1 failed$/)
  expect(rest).toEqual([''])
  expect(await succeed('matrix', '--search', 'other')).toBe('nothing is deployed\n')
})

test('changes shows the releases that a deployment replaced', async () => {
  const lines = (await succeed('changes', deployments.second)).split('\n')
  expect(lines.slice(0, 2)).toEqual(['action greet 1.1.0', '1.0.0 -> 1.1.0 on 1 target: two'])
  expect(lines[2]).toContain(`by admin, deployment ${deployments.first}`)
  expect(lines.slice(3)).toEqual(['  action greet: 1.0.0 -> 1.1.0', '  name: "you" -> "all"', ''])
  expect(await succeed('changes', deployments.first)).toContain('nothing -> 1.0.0 on 2 targets: one, two')
  is(await cli.run(['changes', '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a3d']), 3)
})

describe('--only-changed', () => {
  const deploy = ['deploy', 'greet', '--source-version', '1.1.0', '--var', 'name=all', '--tag', 'role=web']

  test('a plan names the replaced releases, and the targets that have the version and the values already', async () => {
    const plan = await succeed(...deploy, '--dry-run')
    expect(plan).toMatch(/^unchanged: 1 target .*--only-changed.*: two$/m)
    expect(plan).toMatch(/^ {2}1\.0\.0 -> 1\.1\.0 on 1 target: one$/m)
    expect(plan).toMatch(/^ {4}name: "you" -> "all"$/m)
    expect(await succeed(...deploy, '--dry-run', '--only-changed')).toMatch(/^left out: 1 target .*: two$/m)
  })

  test('leaves out unchanged targets, and succeeds if no target is left', async () => {
    const first = await succeed(...deploy, '--only-changed', '--wait')
    expect(first).toContain('left out: 1 target')
    expect(first).toMatch(/^one +success/m)
    expect(first).not.toMatch(/^two /m)
    expect(await succeed('status', idIn(first))).toMatch(/^left out: +1 target /m)

    const count = async () => (await api.get('/deployments')).body.meta.total
    const before = await count()
    expect(await succeed(...deploy, '--only-changed', '--wait')).toMatch(/^nothing to deploy: .* on 2 targets$/m)
    expect(await succeed(...deploy, '--only-changed', '--dry-run')).toMatch(/^nothing to deploy: .* on 2 targets$/m)
    expect(await succeed('redeploy', idIn(first), '--only-changed')).toMatch(/^nothing to deploy: .* on 2 targets$/m)
    const { unchanged_target_ids } = JSON.parse(await succeed(...deploy, '--only-changed', '-o', 'json'))
    expect(unchanged_target_ids).toHaveLength(2)
    expect(await count()).toBe(before)
    is(await cli.run([...deploy, '--wait']), 0)
    expect(await count()).toBe(before + 1)
  })
})

test('deployments are listed by source, version, target, user and time', async () => {
  const list = async (...filters: string[]) => {
    const found = JSON.parse(await succeed('deployments', ...filters, '-o', 'json')) as { id: string }[]
    return found.map(({ id }) => id)
  }
  const { first, second, failed } = deployments
  expect(await list('--source', 'greet', '--source-version', '1.0.0')).toEqual([first])
  expect(await list('--target', 'one', '--state', 'failed')).toEqual([failed])
  expect(await list('--target', 'two', '--until', '0s')).toEqual(expect.arrayContaining([second, first]))
  expect(await list('--triggered-by', 'nobody')).toEqual([])
  expect(await list('--triggered-by', 'admin', '--since', '1d')).toEqual(expect.arrayContaining([first, failed]))
  expect(await list('--until', '1d')).toEqual([])
})
