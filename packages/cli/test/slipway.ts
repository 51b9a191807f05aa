import { spawn } from 'node:child_process'
import path from 'node:path'

const bin = path.join(import.meta.dirname, '../bin/slipway.mjs')

/** Runs the command line against this server, to its end. */
export function runSlipway(
  url: string,
  args: readonly string[],
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const env = { PATH: process.env['PATH'], HOME: '/nonexistent', SLIPWAY_URL: url, SLIPWAY_TOKEN: 'token' }
  const child = spawn(process.execPath, [bin, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const texts = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk) => {
    texts.stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    texts.stderr += chunk
  })
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, ...texts })))
}
