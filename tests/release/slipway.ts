import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { repositoryRoot, type Suite } from '@slipway/testing'

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

export interface Running {
  child: ChildProcess
  /** The output so far. */
  stdout(): string
  stderr(): string
  ended: Promise<Ended>
}

export interface RunOptions {
  env?: Record<string, string>
  cwd?: string
  /** Null: standard input stays open, so that a test can type later. */
  stdin?: string | null
}

const bin = path.join(repositoryRoot, 'packages/cli/bin')

/** A folder with `slipway`, for the PATH of a pipeline. */
export function binFolder(folder: string): string {
  const made = path.join(folder, 'bin')
  fs.mkdirSync(made, { recursive: true })
  const link = path.join(made, 'slipway')
  if (!fs.existsSync(link)) fs.symlinkSync(path.join(bin, 'slipway.mjs'), link)
  return made
}

export function start(command: string, args: readonly string[], { env = {}, cwd, stdin }: RunOptions = {}): Running {
  const child = spawn(command, args, {
    cwd: cwd ?? repositoryRoot,
    // Without the environment of the tests, so that no session or server of the user is used.
    env: { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  child.stdin.on('error', () => {})
  if (stdin !== null) child.stdin.end(stdin ?? '')
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr }))
  })
  return { child, stdout: () => stdout, stderr: () => stderr, ended }
}

const startSlipway = (args: readonly string[], options: RunOptions = {}): Running =>
  start(process.execPath, [path.join(bin, 'slipway.mjs'), ...args], options)

export const slipway = (args: readonly string[], options: RunOptions = {}): Promise<Ended> =>
  startSlipway(args, options).ended

/** The command line with the session of the administrator of a suite. */
export function commandLineOf(suite: Pick<Suite, 'url'>, token: string) {
  const env = { SLIPWAY_URL: suite.url, SLIPWAY_TOKEN: token }
  return {
    env,
    run: (args: readonly string[], options: RunOptions = {}) =>
      slipway(args, { ...options, env: { ...env, ...options.env } }),
    start: (args: readonly string[], options: RunOptions = {}) =>
      startSlipway(args, { ...options, env: { ...env, ...options.env } }),
  }
}
