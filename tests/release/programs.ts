import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { repositoryRoot } from '@slipway/testing'

interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

/** A folder with `slipway`, for the PATH of a shell. */
export function binFolder(folder: string): string {
  const made = path.join(folder, 'bin')
  fs.mkdirSync(made, { recursive: true })
  const link = path.join(made, 'slipway')
  if (!fs.existsSync(link)) fs.symlinkSync(path.join(repositoryRoot, 'packages/cli/bin/slipway.mjs'), link)
  return made
}

/** Runs a program without the environment of the tests, so that it uses no session and no server of the user. */
export function runProgram(
  command: string,
  args: readonly string[],
  { env = {}, cwd = repositoryRoot }: { env?: Record<string, string>; cwd?: string } = {},
): Promise<Ended> {
  const child = spawn(command, args, {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, ...output }))
  })
}
