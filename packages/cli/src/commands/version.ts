import type { Command } from 'commander'
import { CLI_VERSION } from '../cli-version.ts'
import { createFetch } from '../configuration/network.ts'
import { chooseServer, findConfiguredUrl } from '../configuration/server.ts'
import type { Io } from '../io.ts'
import type { Path } from '../terminal/fields.ts'
import { type Format, Output } from '../terminal/output.ts'
import { formatFacts } from '../terminal/table.ts'
import { getRoot } from './root.ts'

const TIMEOUT_MS = 2_000

export function addVersion(program: Command): void {
  program
    .command('version')
    .description('print the version of slipway, and of the server if it answers')
    .action(async (_options: unknown, command: Command) => {
      const { io } = getRoot(command)
      // A wrong context must not keep the version from whoever reports the problem.
      const url = findConfiguredUrl(io, command)
      const server_version = url === undefined ? null : await readServerVersion(io, command)
      const { output, select } = command.optsWithGlobals<{ output: Format; select?: Path[] }>()
      const record = { version: CLI_VERSION, server: url ?? null, server_version }
      new Output(io, output, select).printRecord(record, () =>
        formatFacts([
          ['slipway', CLI_VERSION],
          ['server', url],
          ['its version', url && (server_version ?? 'unknown: no answer of Slipway within 2 s')],
          ['its docs', url && `${url}/docs`],
        ]),
      )
    })
}

/** Needs no login. Null: there is no answer in time, or it is not of Slipway. */
async function readServerVersion(io: Io, command: Command): Promise<string | null> {
  try {
    const { url, caFile } = chooseServer(io, command)
    const ownFetch = (await createFetch(io.env, caFile)) ?? fetch
    const response = await ownFetch(`${url}/api/v1/openapi.json`, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    const { info } = (await response.json()) as { info?: { version?: unknown } }
    return typeof info?.version === 'string' ? info.version : null
  } catch {
    return null
  }
}
