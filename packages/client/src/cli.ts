#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { ApiError } from './api-error.ts'
import { DEFAULT_URL } from './commands/connect.ts'
import { addFirstDeployment } from './commands/first-deployment.ts'
import { exitCodeOf } from './exit-code.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

const program = new Command('slipway')
  .description('Create, watch and control deployments')
  .version(version)
  .option('--url <url>', 'the server (SLIPWAY_URL)', process.env['SLIPWAY_URL'] || DEFAULT_URL)

addFirstDeployment(program)

try {
  await program.parseAsync()
} catch (error) {
  console.error(`slipway: ${explain(error)}`)
  process.exitCode = exitCodeOf(error)
}

/** What went wrong and, where the server says it, every field that is wrong. */
function explain(error: unknown): string {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error)
  const { code, message, details, requestId } = error
  const fields = listOf<{ path: string; message: string }>(details?.['errors']).map((e) => `  ${e.path} ${e.message}`)
  const missing = listOf<{ path: string; id: string }>(details?.['missing']).map((m) => `  ${m.path} ${m.id}`)
  const id = requestId ? ` [request ${requestId}]` : ''
  return [`${message} (${code})${id}`, ...fields, ...missing].join('\n')
}

function listOf<T>(value: unknown): T[] {
  return Array.isArray(value) ? (value as T[]) : []
}
