import { spawn } from 'node:child_process'
import path from 'node:path'

const bin = path.join(import.meta.dirname, '../bin/slipway.mjs')

interface RunOptions {
  env?: Record<string, string | undefined>
  stdin?: string
}

/** Runs the command line with this server and returns its result. */
export function runSlipway(
  url: string,
  args: readonly string[],
  { env = {}, stdin = '' }: RunOptions = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [bin, ...args], {
    env: {
      PATH: process.env['PATH'],
      HOME: '/nonexistent',
      SLIPWAY_URL: url,
      SLIPWAY_TOKEN: 'token',
      TZ: 'UTC',
      ...env,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const texts = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk) => {
    texts.stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    texts.stderr += chunk
  })
  child.stdin.on('error', () => {})
  child.stdin.end(stdin)
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, ...texts })))
}
