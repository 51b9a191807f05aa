import { type ChildProcess, spawn } from 'node:child_process'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { freePort, repositoryRoot, waitFor } from '@slipway/testing'
import { build } from 'esbuild'
import { sleep } from '../src/index.ts'

interface Run {
  child: ChildProcess
  lines: Record<string, unknown>[]
  stderr: () => string
  exit: Promise<{ code: number | null; signal: string | null }>
}

const running: ChildProcess[] = []
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
})

// The fixture is bundled like a service, so that it starts fast. Only @opentelemetry packages stay outside.
const dist = join(repositoryRoot, 'packages/runtime/dist')
const program = join(dist, 'service-fixture.js')
beforeAll(async () => {
  await build({
    entryPoints: { 'service-fixture': join(import.meta.dirname, 'fixtures', 'service.ts') },
    outdir: dist,
    splitting: true,
    chunkNames: 'service-fixture-[hash]',
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@slipway/source'],
    external: ['@opentelemetry/*'],
    banner: {
      js: "import { createRequire as $require } from 'node:module'; const require = $require(import.meta.url)",
    },
  })
})

function start(env: Record<string, string>): Run {
  const child = spawn(process.execPath, [program], {
    env: { PATH: process.env['PATH'] ?? '', REDIS_URL: 'redis://127.0.0.1:1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.push(child)
  const lines: Record<string, unknown>[] = []
  let rest = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split('\n')
    rest = parts.pop() ?? ''
    for (const part of parts) lines.push(JSON.parse(part))
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const exit = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal }))
  })
  return { child, lines, stderr: () => stderr, exit }
}

const said = (run: Run, message: string) => run.lines.some((line) => line['message'] === message)
const stepsOf = (run: Run) => run.lines.filter((line) => 'step' in line).map((line) => line['step'])

describe('stopping', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    'runs the steps on %s in reverse order, past a failing step, and exits with 0',
    async (signal) => {
      const run = start({})
      await waitFor(() => said(run, 'started'))
      run.child.kill(signal)
      expect(await run.exit).toEqual({ code: 0, signal: null })
      expect(stepsOf(run)).toEqual(['last in', 'hangs', 'fails', 'first in'])
      expect(run.lines.find((line) => line['message'] === 'leaving')).toMatchObject({
        aborted: true,
        service: 'fixture',
      })
      expect(run.stderr()).toBe('')
    },
  )

  test('a step that exceeds its timeout is left behind', async () => {
    const run = start({ MODE: 'late' })
    await waitFor(() => said(run, 'started'))
    run.child.kill('SIGTERM')
    expect((await run.exit).code).toBe(0)
    expect(run.lines.find((line) => line['step'] === 'hangs')).toMatchObject({ level: 'warn' })
    expect(stepsOf(run)).toContain('first in')
  })

  test('a second signal ends the process at once', async () => {
    const run = start({ MODE: 'hang' })
    await waitFor(() => said(run, 'started'))
    const again = setInterval(() => run.child.kill('SIGTERM'), 100)
    const { code } = await run.exit
    clearInterval(again)
    expect(code).toBe(1)
    expect(said(run, 'second signal: the process exits at once')).toBe(true)
    expect(stepsOf(run)).toEqual(['last in'])
  })

  test('a signal during a slow start stops the service', async () => {
    const run = start({
      MODE: 'slow start',
      SLIPWAY_LOG_LEVEL: 'debug',
      SLIPWAY_MANAGEMENT_PORT: String(await freePort()),
    })
    await waitFor(() => said(run, 'management server listens'))
    run.child.kill('SIGTERM')
    expect((await run.exit).code).toBe(0)
    expect(stepsOf(run)).toContain('first in')
    expect(said(run, 'started')).toBe(false)
  })
})

describe('the exit code of a service is', () => {
  test('78 with a plain message if the configuration is wrong', async () => {
    const run = start({ REDIS_URL: 'http://:hunter2@x', SLIPWAY_LOG_LEVEL: 'loud' })
    expect((await run.exit).code).toBe(78)
    expect(run.stderr()).toMatch(/^2 environment variables are wrong:\n {2}REDIS_URL must be/)
    expect(run.stderr()).not.toContain('hunter2')
    expect(run.lines).toEqual([])
  })

  test('78 if the management port is taken, and the message names its variable', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const run = start({ SLIPWAY_MANAGEMENT_PORT: String((server.address() as AddressInfo).port) })
    expect((await run.exit).code).toBe(78)
    expect(run.stderr()).toContain('SLIPWAY_MANAGEMENT_PORT')
    server.close()
  })

  test.each([
    ['', 'redis://:slipway-development@127.0.0.1:6379'],
    ['false', 'redis://user:slipway-development-2@127.0.0.1:6379'],
  ])('78 in production with a development secret, and the message names its variable', async (development, url) => {
    const run = start({ NODE_ENV: 'production', SLIPWAY_DEVELOPMENT: development, REDIS_URL: url })
    expect((await run.exit).code).toBe(78)
    expect(run.stderr()).toContain('REDIS_URL holds a secret of the development setup')
    expect(run.stderr()).not.toContain(url)
    expect(run.lines).toEqual([])
  })

  test.each([
    ['start', 'cannot start'],
    ['fatal', 'it is over'],
    ['throw', 'nobody caught it'],
    ['reject', 'nobody awaited it'],
  ])('1 with the error in the log: %s', async (mode, message) => {
    const run = start({ MODE: mode })
    expect((await run.exit).code).toBe(1)
    expect(run.lines.find((line) => line['level'] === 'error')).toMatchObject({ error: { message } })
  })
})

test('SLIPWAY_DEVELOPMENT allows development secrets in production and logs a warning', async () => {
  const secret = { REDIS_URL: 'redis://:slipway-development@127.0.0.1:6379' }
  const run = start({ NODE_ENV: 'production', SLIPWAY_DEVELOPMENT: 'true', ...secret })
  await waitFor(() => said(run, 'started'))
  const warning = run.lines.find(({ level }) => level === 'warn')
  expect(warning?.['message']).toMatch(/^SLIPWAY_DEVELOPMENT is true/)
  const outside = start(secret)
  await waitFor(() => said(outside, 'started'))
  expect(outside.lines.filter(({ level }) => level === 'warn')).toEqual([])
})

test('the management port has metrics, and a readiness that ends before the first step of the stop', async () => {
  const port = await freePort()
  const run = start({ SLIPWAY_MANAGEMENT_PORT: String(port), MODE: 'hang' })
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`)
    return { status: response.status, body: await response.json() }
  }
  await waitFor(() => said(run, 'started'))
  expect(await get('/livez')).toEqual({ status: 200, body: { alive: true } })
  expect(await get('/readyz')).toEqual({ status: 200, body: { ready: true, dependencies: { redis: 'up' } } })
  expect((await get('/')).status).toBe(404)
  const metrics = await fetch(`http://127.0.0.1:${port}/metrics`)
  expect(metrics.headers.get('content-type')).toMatch(/^text\/plain/)
  expect(await metrics.text()).toMatch(/^slipway_build_info\{component="fixture",version="[\d.]+"\} 1$/m)

  run.child.kill('SIGUSR2')
  await waitFor(async () => (await get('/readyz')).status === 503)
  expect((await get('/readyz')).body).toEqual({ ready: false, dependencies: { redis: 'down' } })
  run.child.kill('SIGUSR2')
  await waitFor(async () => (await get('/readyz')).status === 200)

  run.child.kill('SIGTERM')
  await waitFor(() => said(run, 'leaving'))
  expect(await get('/readyz')).toEqual({ status: 503, body: { ready: false, dependencies: { redis: 'up' } } })
  expect((await get('/livez')).status).toBe(200)
})

test('tracing modules are loaded only if an endpoint for traces is set', async () => {
  const loaded = async (env: Record<string, string>) => {
    const run = start({ MODE: 'loaded', ...env })
    await waitFor(() => said(run, 'modules'))
    run.child.kill('SIGTERM')
    expect((await run.exit).code).toBe(0)
    return run.lines.find((line) => line['message'] === 'modules')?.['loaded']
  }
  expect(await loaded({})).toBe(0)
  // The endpoint is unreachable. This delays neither the start nor the stop.
  expect(await loaded({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' })).toBeGreaterThan(0)
})

test('a service drains for SLIPWAY_DRAIN_SECONDS, not ready, before it stops', async () => {
  const port = await freePort()
  const run = start({ SLIPWAY_MANAGEMENT_PORT: String(port), SLIPWAY_DRAIN_SECONDS: '60' })
  const readiness = async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status
  await waitFor(() => said(run, 'started'))
  expect(await readiness()).toBe(200)
  run.child.kill('SIGTERM')
  await waitFor(() => said(run, 'stopping'))
  expect(await readiness()).toBe(503)
  await sleep(600)
  expect(stepsOf(run)).toEqual([])
  // A second signal ends the drain.
  run.child.kill('SIGTERM')
  expect((await run.exit).code).toBe(1)

  const brief = start({ SLIPWAY_DRAIN_SECONDS: '1' })
  await waitFor(() => said(brief, 'started'))
  brief.child.kill('SIGTERM')
  expect((await brief.exit).code).toBe(0)
  expect(stepsOf(brief)).toContain('last in')
})
