// References to deployments by @last or part of an id, rollback, the last lines of logs, and content.
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { type Api, createAction, createLocalTarget, loginToSuite, type Suite, startSuite } from '@slipway/testing'
import { commandLineOf } from './slipway.ts'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-references-'))
const env = { XDG_CONFIG_HOME: folder }
let suite: Suite
let api: Api
let cli: ReturnType<typeof commandLineOf>

beforeAll(async () => {
  suite = await startSuite()
  api = await loginToSuite(suite)
  cli = commandLineOf(suite, api.token)
  await createLocalTarget(api, { name: 'one', concurrency: 'queue' })
  await createLocalTarget(api, { name: 'two' })
  await createAction(api, { script: 'for n in 1 2 3 4 5; do echo "line $n"; done' }, 'count')
  await createAction(api, { script: 'sleep 600' }, 'sleep')
})

afterEach(() => suite.restore())
afterAll(async () => {
  await suite?.stop()
  fs.rmSync(folder, { recursive: true })
})

/** Runs a subcommand that must succeed. Returns its output. */
async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await cli.run(args, { env })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}

const lastDeployment = async () => JSON.parse(await run('status', '@last', '-o', 'json')) as { id: string }

test('@last and the beginning of an id name a deployment', async () => {
  await run('deploy', 'count', '-t', 'two', '--wait')
  const { id } = await lastDeployment()
  expect(await run('status', id.slice(0, 23))).toContain(id)
  expect(await run('results', '@last')).toContain('two')
  await run('watch', '@last')
})

test('an unknown or too short beginning of an id is refused', async () => {
  const none = await cli.run(['status', 'ffffffff'], { env })
  expect(none).toMatchObject({ code: 3, stderr: expect.stringContaining('begins with "ffffffff"') })
  const short = await cli.run(['status', 'ffff'], { env })
  expect(short).toMatchObject({ code: 3, stderr: expect.stringContaining('too short') })
})

test('@last without a deployment gives an error that says so', async () => {
  const elsewhere = { XDG_CONFIG_HOME: path.join(folder, 'empty') }
  const { code, stderr } = await cli.run(['status', '@last'], { env: elsewhere })
  expect(stderr).toContain('nothing was deployed')
  expect(code).toBe(3)
})

test('the id of a request names the request while it is pending, and later its deployment', async () => {
  await run('deploy', 'sleep', '-t', 'one')
  const holder = await lastDeployment()
  await run('deploy', 'count', '-t', 'one')
  const request = await run('status', '@last', '--select', 'id')
  expect(await run('status', '@last')).toContain('Waits for the target "one"')
  expect((await cli.run(['results', '@last'], { env })).stderr).toContain('waits in the queue')
  const watching = cli.start(['watch', '@last', '--follow'], { env })
  await run('cancel', holder.id)
  expect(await watching.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('line 5') })
  expect(await run('logs', request.trim())).toContain('line 5')
})

test('cancel also cancels a pending request', async () => {
  await run('deploy', 'sleep', '-t', 'one')
  const holder = await lastDeployment()
  await run('deploy', 'count', '-t', 'one')
  await run('cancel', '@last')
  expect(await cli.run(['watch', '@last'], { env })).toMatchObject({ code: 4 })
  await run('cancel', holder.id)
})

describe('logs', () => {
  test('prints the last lines with their times, and the lines since a time', async () => {
    await run('deploy', 'count', '-t', 'two', '--wait')
    const lines = (await run('logs', '@last', '--stream', 'stdout', '--tail', '2', '--timestamps')).trim().split('\n')
    expect(lines).toEqual([
      expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \S+ two \| line 4$/),
      expect.stringMatching(/ two \| line 5$/),
    ])
    expect(await run('logs', '@last', '--since', '1h')).toContain('line 1')
    expect(await run('logs', '@last', '--since', '2999-01-01T00:00:00Z')).not.toContain('line')
  })
})

describe('rollback', () => {
  const version = async () => {
    const [release] = JSON.parse(await run('where', 'site', '-o', 'json')) as { version: string }[]
    return release?.version
  }

  test('deploys the former release, only after a confirmation', async () => {
    const id = await createAction(api, { script: 'echo first' }, 'site')
    await run('deploy', 'site', '-t', 'two', '--wait')
    const first = await cli.run(['rollback', 'site', '--yes'], { env })
    expect(first).toMatchObject({ code: 3, stderr: expect.stringContaining('no release before') })

    await api.post(`/actions/${id}/versions`, {
      version: '2.0.0',
      definition: { type: 'script', script: 'echo second' },
    })
    await run('deploy', 'site', '-t', 'two', '--wait')
    expect(await version()).toBe('2.0.0')
    const unasked = await cli.run(['rollback', 'site'], { env })
    expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') })
    const plan = await run('rollback', 'site', '--dry-run')
    expect(plan).toContain('1.0.0')
    const [, hash = ''] = /--expect-plan (\S+)/.exec(plan) ?? []
    const changed = await cli.run(['rollback', 'site', '--yes', '--expect-plan', `x${hash}`], { env })
    expect(changed).toMatchObject({ code: 3, stderr: expect.stringContaining('the plan is not the expected one') })
    expect(await version()).toBe('2.0.0')
    expect(await run('rollback', 'site', '--yes', '--follow', '--expect-plan', hash)).toContain('first')
    expect(await version()).toBe('1.0.0')
  })
})

test('downloaded content equals the uploaded file', async () => {
  const file = path.join(folder, 'archive.bin')
  fs.writeFileSync(file, Buffer.from([0, 255, 10, 13]))
  const sha256 = createHash('sha256').update(fs.readFileSync(file)).digest('hex')
  expect(await run('content', 'upload', file)).toContain(sha256)
  expect(await run('content', 'list')).toMatch(new RegExp(`^${sha256} +4 +20.* -$`, 'm'))
  await run('content', 'download', sha256, path.join(folder, 'copy.bin'))
  expect(fs.readFileSync(path.join(folder, 'copy.bin'))).toEqual(fs.readFileSync(file))
  const missing = await cli.run(['content', 'upload', path.join(folder, 'missing')], { env })
  expect(missing).toMatchObject({ code: 3, stderr: expect.stringContaining('cannot be read (ENOENT)') })
})
