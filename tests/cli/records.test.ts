// Lists, shows and deletes records of every kind with the command line, against the running suite.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Api, createAction, createLocalTarget, loginToSuite, type Suite, startSuite } from '@slipway/testing'
import { commandLineOf } from './slipway.ts'

let suite: Suite
let api: Api
let cli: ReturnType<typeof commandLineOf>

beforeAll(async () => {
  suite = await startSuite({ env: { SLIPWAY_WEBHOOK_ALLOW_PRIVATE: 'true' } })
  api = await loginToSuite(suite)
  cli = commandLineOf(suite, api.token)
  await createLocalTarget(api, { name: 'here' })
  await createAction(api, { script: 'echo hello' }, 'greet')
  const created = [
    await api.post('/tenants', { name: 'Acme', slug: 'acme' }),
    await api.post('/environments', { name: 'blue', variables: { color: 'blue' } }),
    await api.post('/admin/roles', { name: 'reader', permissions: ['targets:read'] }),
    await api.post('/webhooks', { url: 'http://127.0.0.1:9/hook', events: ['deployment.finished'] }),
  ]
  expect(created.map(({ status }) => status)).toEqual([201, 201, 201, 201])
})
afterAll(() => suite?.stop())

const KINDS = [
  ['actions', 'greet'],
  ['targets', 'here'],
  ['environments', 'blue'],
  ['tenants', 'Acme'],
  ['roles', 'reader'],
  ['webhooks', 'http://127.0.0.1:9/hook'],
] as const

describe.each(KINDS)('%s', (kind, name) => {
  test('are listed and shown, and deleted with --yes', async () => {
    const list = await cli.run([kind, 'list', '-o', 'json'])
    const record = JSON.parse(list.stdout).find(
      (one: { name?: string; url?: string }) => (one.name ?? one.url) === name,
    )
    expect((await cli.run([kind, 'list'])).stdout).toContain(name)
    const shown = await cli.run([kind, 'show', name])
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining(record.id) })
    expect((await cli.run([kind, 'show', record.id, '--select', 'id'])).stdout).toBe(`${record.id}\n`)

    expect(await cli.run([kind, 'delete', name])).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') })
    expect(await cli.run([kind, 'delete', name, '--yes'])).toMatchObject({ code: 0 })
    expect(await cli.run([kind, 'show', name])).toMatchObject({ code: 3 })
  })
})

test.each(['sequences', 'solutions', 'instances', 'users', 'freezes'])('%s are listed', async (kind) => {
  expect(await cli.run([kind, 'list'])).toMatchObject({ code: 0, stderr: '' })
})

test('versions of a source are listed, and one is shown', async () => {
  await createAction(api, { script: 'echo versions' }, 'versioned')
  expect((await cli.run(['actions', 'versions', 'versioned', '-o', 'jsonl'])).stdout).toContain('"version":"1.0.0"')
  expect((await cli.run(['actions', 'versions', 'versioned', '1.0.0'])).stdout).toContain('echo versions')
})

test('--watch shows a list again after a change', async () => {
  const watching = cli.start(['environments', 'list', '--watch', '-o', 'name'])
  const until = async (text: string) => {
    while (!watching.stdout().includes(text) && watching.child.exitCode === null)
      await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await api.post('/environments', { name: 'first' })
  await until('first')
  await api.post('/environments', { name: 'second' })
  await until('second')
  watching.child.kill('SIGINT')
  expect(await watching.ended).toMatchObject({ code: 130, stdout: expect.stringContaining('second\nfirst') })
})
