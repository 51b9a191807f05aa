// Records of every kind, content, a login with its keys and users, and the names that completion offers.
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { createAction, createSequence, openTenant, type TestTenant, waitFor } from '@slipway/testing'
import { type CommandLine, createFolder, expectExit, findId, openCommandLine } from './command-line.ts'

const folder = createFolder()
let tenant: TestTenant
let cli: CommandLine

beforeAll(async () => {
  tenant = await openTenant()
  cli = openCommandLine(tenant, folder)
  const { api } = tenant
  const greet = await createAction(api, { script: 'echo hello' }, 'greet')
  await createSequence(api, [await createAction(api, { script: 'echo release' }, 'Release front end')], 'release')
  await tenant.createLocalTarget({ name: 'here', tags: [{ key: 'role', value: 'web' }] })
  const times = { start_time: '2036-01-01T00:00:00Z', end_time: '2036-01-02T00:00:00Z' }
  const created = [
    await api.post('/environments', { name: 'blue', variables: { color: 'blue' } }),
    await api.post('/webhooks', { url: 'http://127.0.0.1:9/hook', events: ['deployment.finished'] }),
    await api.post('/deployment-freezes', { name: 'closing', ...times }),
    await api.post(`/actions/${greet}/versions`, {
      version: '1.1.0',
      definition: { type: 'script', script: 'echo "hello again"' },
    }),
  ]
  expect(created.map(({ status }) => status)).toEqual([201, 201, 201, 201])
})

describe('records', () => {
  test.each([
    ['actions', 'greet'],
    ['sequences', 'release'],
    ['targets', 'here'],
    ['environments', 'blue'],
    ['webhooks', 'http://127.0.0.1:9/hook'],
    ['freezes', 'closing'],
  ])('%s are listed and shown', async (kind, name) => {
    expect(await cli.succeed(kind, 'list')).toContain(name)
    const shown = JSON.parse(await cli.succeed(kind, 'show', name, '-o', 'json'))
    expect(shown.name ?? shown.url).toBe(name)
    expect(await cli.succeed(kind, 'show', shown.id, '--select', 'id')).toBe(`${shown.id}\n`)
  })

  test.each(['solutions', 'instances', 'roles', 'tenants', 'users'])('%s are listed', async (kind) => {
    await cli.succeed(kind, 'list')
  })

  test('are deleted with --yes', async () => {
    await tenant.api.post('/environments', { name: 'old' })
    expect(await cli.run(['environments', 'delete', 'old'])).toMatchObject({ code: 2 })
    await cli.succeed('environments', 'delete', 'old', '--yes')
    expect(await cli.run(['environments', 'show', 'old'])).toMatchObject({ code: 3 })
  })

  test('include the versions of a source', async () => {
    expect(await cli.succeed('actions', 'versions', 'greet', '--select', 'version')).toBe('1.1.0\n1.0.0\n')
    expect(await cli.succeed('actions', 'versions', 'greet', '1.0.0')).toContain('echo hello\n')
  })

  test('are listed again by --watch after a change', async () => {
    const watching = cli.start(['environments', 'list', '--search', 'step', '--watch', '-o', 'name'])
    for (const name of ['step 1', 'step 2']) {
      await tenant.api.post('/environments', { name })
      await waitFor(() => watching.stdout().includes(name), { what: name })
    }
    watching.interrupt()
    expect(await watching.ended).toMatchObject({ code: 130, stdout: expect.stringMatching(/step 1\nstep 2\n$/) })
  })

  test('of targets are taken out of service', async () => {
    expect(await cli.succeed('targets', 'list', '--tag', 'role=web')).toMatch(/here +online +- +local/)
    await cli.succeed('targets', 'disable', 'here')
    expect(await cli.succeed('targets', 'show', 'here')).toMatch(/enabled: +no/)
    await cli.succeed('targets', 'enable', 'here')
  })
})

test('downloaded content equals the uploaded file', async () => {
  const [file, copy] = [path.join(folder, 'archive.bin'), path.join(folder, 'copy.bin')]
  fs.writeFileSync(file, Buffer.from([0, 255, 10, 13, ...Buffer.from(tenant.id)]))
  const sha256 = createHash('sha256').update(fs.readFileSync(file)).digest('hex')
  expect(await cli.succeed('content', 'upload', file)).toContain(sha256)
  expect(await cli.succeed('content', 'list')).toMatch(new RegExp(`^${sha256} +40 +20.* -$`, 'm'))
  await cli.succeed('content', 'download', sha256, copy)
  expect(fs.readFileSync(copy)).toEqual(fs.readFileSync(file))
})

test('completion offers the names and ids of the server', async () => {
  const stdout = await cli.succeed('deploy', 'greet', '-t', 'here', '--wait')
  const complete = async (...words: string[]) => (await cli.succeed('complete', '--', ...words)).trim().split('\n')
  expect(await complete('targets', 'show', 'h')).toEqual(['here'])
  expect(await complete('deploy', 'Rel')).toEqual(['Release front end'])
  expect(await complete('deploy', 'x', '--environment=bl')).toEqual(['--environment=blue'])
  expect(await complete('deploy', 'x', '--tag', 'ro')).toEqual(['role=web'])
  expect(await complete('users', 'show', 'tenant-')).toEqual([tenant.account.email])
  expect(await complete('logs', findId(stdout).slice(0, 13))).toEqual([findId(stdout)])
  expect(await complete('logs', '@')).toEqual(['@last'])
})

test('a person logs in, makes a key for a pipeline and a user, and logs out', async () => {
  const { email, password } = tenant.account
  const home = path.join(folder, 'person')
  const person = { SLIPWAY_TOKEN: '', XDG_CONFIG_HOME: home }
  const run = (args: string[], stdin?: string) =>
    cli.run(args, { env: person, ...(stdin === undefined ? {} : { stdin }) })
  expectExit(await run(['login', '--email', email, '--password-stdin'], 'wrong password\n'), 3)
  expectExit(await run(['login', '--email', email, '--password-stdin'], `${password}\n`), 0)
  expect((await run(['whoami'])).stdout).toContain(email)

  const created = await run(['keys', 'create', 'ci', '--scope', 'deployments:read'])
  expect(created).toMatchObject({ code: 0, stdout: expect.stringMatching(/^svc_\S+\n$/) })
  const pipeline = { SLIPWAY_TOKEN: '', SLIPWAY_API_KEY: created.stdout.trim() }
  expect((await cli.run(['whoami'], { env: pipeline })).stdout).toMatch(/^API key: +ci$/m)
  expectExit(await cli.run(['status'], { env: pipeline }), 0)
  expectExit(await cli.run(['targets', 'list'], { env: pipeline }), 3)

  const address = `ann-${tenant.username}@example.com`
  const user = ['users', 'create', address, '--username', 'ann', '--role', 'operator', '--password-stdin']
  expectExit(await run(user, 'a password of some length\n'), 0)
  expectExit(await run(['users', 'edit', address, '--status', 'suspended']), 0)
  expect((await run(['users', 'list'])).stdout).toMatch(new RegExp(`${address} +ann +suspended +operator`))
  expectExit(await run(['users', 'delete', address, '--yes']), 0)
  expect((await run(['audit', '--limit', '20'])).stdout).toMatch(/tenant-\w+ +- +\S+ +user\.delete/)

  expectExit(await run(['logout']), 0)
  expectExit(await run(['whoami']), 2)
})
