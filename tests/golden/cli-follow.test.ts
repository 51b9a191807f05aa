// Following a deployment over broken connections, Ctrl-C, and the filters of logs.
import fs from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { createAction, deploymentEnd, openTenant, startTcpProxy, type TestTenant, waitFor } from '@slipway/testing'
import { type CommandLine, createFolder, expectExit, findId, openCommandLine } from './command-line.ts'

const folder = createFolder()
let tenant: TestTenant
let cli: CommandLine

/** The action `gated` prints each of these lines after its release. */
const LINES = ['line 1', 'line 2', 'line 3', 'line 4']
const release = (line: string) => fs.writeFileSync(path.join(folder, line), '')

beforeAll(async () => {
  tenant = await openTenant()
  cli = openCommandLine(tenant, folder)
  const { api } = tenant
  const gated = LINES.map((line) => `until [ -e '${folder}/${line}' ]; do sleep 0.02; done; echo '${line}'`)
  await Promise.all([
    tenant.createLocalTarget({ name: 'one' }),
    tenant.createLocalTarget({ name: 'two' }),
    createAction(api, { script: gated.join('\n') }, 'gated'),
    createAction(api, { script: 'for n in $(seq 40); do echo "line $n"; done' }, 'count'),
    createAction(api, { script: 'echo begun; sleep 600' }, 'sleep'),
  ])
})

const lines = (text: string) => [...text.matchAll(/^one \| (line \d+)$/gm)].map(([, line]) => line)

test('--follow continues without gap or repetition after its connection was cut several times', async () => {
  const proxy = await startTcpProxy(tenant.suite.url)
  try {
    const running = cli.start(['deploy', 'gated', '-t', 'one', '--follow'], { env: { SLIPWAY_URL: proxy.url } })
    for (const line of LINES.slice(0, -1)) {
      release(line)
      await waitFor(() => running.stdout().includes(`${line}\n`), { what: line })
      proxy.cut()
    }
    proxy.refuse(true)
    release('line 4')
    await deploymentEnd(tenant.api, findId(running.stdout()))
    await waitFor(() => running.stderr() !== '', { what: 'the sentence about the lost connection' })
    proxy.refuse(false)
    const ended = await running.ended
    expectExit(ended, 0)
    const lost = 'connection lost, trying again for up to \\d+ s \\(last line \\d+\\)'
    expect(ended.stderr).toMatch(new RegExp(`^(${lost}\nconnection is back after .+\n)+$`))
    expect(lines(ended.stdout)).toEqual(LINES)
  } finally {
    await proxy.close()
  }
})

describe('Ctrl-C', () => {
  test('stops following, and the error names the command that follows again', async () => {
    const running = cli.start(['deploy', 'sleep', '-t', 'one', '--follow'])
    await waitFor(() => running.stdout().includes('begun'), { what: 'the command to begin' })
    running.interrupt()
    const ended = await running.ended
    expectExit(ended, 130)
    const id = findId(ended.stdout)
    expect(ended.stderr).toContain(`slipway logs ${id} --follow`)
    expect((await tenant.api.get(`/deployments/${id}`)).body.state).toBe('running')
    await cli.succeed('cancel', id)
  })

  test('cancels the deployment with --cancel-on-interrupt', async () => {
    const running = cli.start(['deploy', 'sleep', '-t', 'two', '--wait', '--cancel-on-interrupt'])
    await waitFor(() => findId(running.stdout()) !== '', { what: 'the deployment' })
    running.interrupt()
    expectExit(await running.ended, 4)
    expect(await cli.succeed('status', '@last', '--select', 'state')).toBe('cancelled\n')
  })
})

describe('the log of an ended deployment', () => {
  const wanted = Array.from({ length: 40 }, (_, n) => `line ${n + 1}`)
  let id: string
  beforeAll(async () => {
    id = findId(await cli.succeed('deploy', 'count', '-t', 'one', '--wait'))
  })

  test.each<[string[], string[]]>([
    [[], wanted],
    [['--follow'], wanted],
    [
      ['--follow', '--search', 'LINE 2', '--action', 'count', '--level', 'info'],
      wanted.filter((one) => /^line 2/.test(one)),
    ],
    [['--from-line', '30'], wanted.slice(30)],
    [['--target', 'two'], []],
    [['--target', 'two', '-t', 'one'], wanted],
    [
      ['--search', 'LINE 4', '--action', 'count', '--target', 'one', '--stream', 'stdout'],
      ['line 4', 'line 40'],
    ],
    [['--level', 'error'], []],
    [['--tail', '2', '--stream', 'stdout'], wanted.slice(-2)],
    [['--since', '1h'], wanted],
    [['--since', '2999-01-01T00:00:00Z'], []],
  ])('%j', async (options, expected) => {
    const { code, stdout, stderr } = await cli.run(['logs', id, ...options])
    expect([code, stderr]).toEqual([0, expected.length > 0 ? '' : 'no lines\n'])
    expect(lines(stdout)).toEqual(expected)
  })

  test('has the time of each line on demand, and one JSON value for each line', async () => {
    const [line] = (await cli.succeed('logs', id, '--timestamps')).split('\n')
    expect(line).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \S+ one \| line 1$/)
    const json = (await cli.succeed('logs', id, '-o', 'json')).trim().split('\n')
    expect(json.map((one) => JSON.parse(one).message)).toEqual(wanted)
  })

  test('can be printed raw, as its commands wrote it', async () => {
    expect(await cli.succeed('logs', id, '--raw', '--search', 'line 4', '--target', 'one')).toBe('line 4\nline 40\n')
  })

  test('is found by the beginning of the id of its deployment', async () => {
    expect(lines(await cli.succeed('logs', id.slice(0, 23), '--from-line', '39'))).toEqual(['line 40'])
  })
})

test('on a terminal, a progress bar for each target is below the log', async () => {
  const ended = await cli.start(['deploy', 'count', '-t', 'one', '-t', 'two', '--follow'], { isTerminal: true }).ended
  expectExit(ended, 0)
  expect(ended.stdout).toMatch(/one \[#{20}\] 1\/1\ntwo \[#{20}\] 1\/1\n\[#{20}\] 2 of 2 steps are complete, running/)
  expect(ended.stdout).toContain('\x1b[32mdeployment')
})
