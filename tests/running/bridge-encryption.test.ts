import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { afterEach, expect, test } from '@jest/globals'
import { repositoryRoot, waitFor } from '@slipway/testing'

// On a busy machine, a process takes seconds to start.
let child: ChildProcess | undefined
afterEach(() => {
  child?.kill('SIGKILL')
})

/** Starts the bridge on all addresses. None of its servers answers. */
function start(env: Record<string, string>): { child: ChildProcess; output(): string } {
  const started = spawn(process.execPath, [path.join(repositoryRoot, 'services/executor-bridge/dist/bundle.js')], {
    env: {
      PATH: String(process.env['PATH']),
      DATABASE_URL: 'postgres://slipway:none@127.0.0.1:1/slipway',
      RABBITMQ_URL: 'amqp://slipway:none@127.0.0.1:1',
      REDIS_URL: 'redis://127.0.0.1:1',
      SLIPWAY_ENCRYPTION_KEYS: `test:${Buffer.alloc(32).toString('base64')}`,
      SLIPWAY_BRIDGE_HOST: '0.0.0.0',
      SLIPWAY_BRIDGE_PORT: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child = started
  let text = ''
  for (const stream of [started.stdout, started.stderr]) {
    stream.on('data', (piece) => {
      text += String(piece)
    })
  }
  return { child: started, output: () => text }
}

test('the bridge exits with 78 instead of serving plain HTTP to other machines by default', async () => {
  const bridge = start({})
  const [code] = await once(bridge.child, 'close')
  expect(bridge.output()).toMatch(
    /^executor-bridge: One environment variable is wrong:\n {2}SLIPWAY_BRIDGE_TLS_CERT_FILE/,
  )
  expect(code).toBe(78)
})

test('the bridge warns at its start if SLIPWAY_BRIDGE_PLAIN allows plain HTTP to other machines', async () => {
  const bridge = start({ SLIPWAY_BRIDGE_PLAIN: 'true' })
  const warning = 'SLIPWAY_BRIDGE_PLAIN is true: credentials and secrets cross the network unencrypted'
  await waitFor(() => bridge.output().includes(warning), { what: 'the warning' })
})
