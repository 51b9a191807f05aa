import { SlipwayClient } from '@slipway/client'
import type { Command } from 'commander'
import { createSessionStore } from '../configuration/file.ts'
import { prepareNetwork } from '../configuration/network.ts'
import { chooseServer, type GlobalOptions } from '../configuration/server.ts'
import { EXIT_CODES, UsageError } from '../exit-code.ts'
import type { Path } from '../terminal/fields.ts'
import { type Format, Output } from '../terminal/output.ts'
import { Screen } from '../terminal/screen.ts'

/** Retries for this time survive a restart of the server. */
const RETRY_FOR_MS = 60_000

/** What every command receives. */
export interface Context {
  url: string
  client: SlipwayClient
  output: Output
  /** Shows progress and logs: on stdout for people, else on stderr. */
  screen: Screen
}

interface OutputOptions {
  output: Format
  select?: Path[]
}

export const readEnvironmentToken = () => process.env['SLIPWAY_TOKEN'] || process.env['SLIPWAY_API_KEY']

/** Authenticates with SLIPWAY_TOKEN or SLIPWAY_API_KEY, else with the session of `slipway login`. */
async function createContext(command: Command): Promise<Context> {
  const { url, context, caFile } = chooseServer(command)
  const token = readEnvironmentToken()
  const sessions = createSessionStore(url, context)
  if (!token && !sessions.load()) {
    const where = context === undefined ? `--url ${url}` : `--context ${context}`
    throw new UsageError(
      `there is no credential: set SLIPWAY_API_KEY (or SLIPWAY_TOKEN), or run \`slipway login ${where}\``,
    )
  }
  await prepareNetwork(caFile)
  const { output: format, select, requestTimeout } = command.optsWithGlobals<GlobalOptions & OutputOptions>()
  const output = new Output(format, select)
  return {
    url,
    client: new SlipwayClient({
      url,
      sessions,
      retryForMs: RETRY_FOR_MS,
      ...(token ? { token } : {}),
      ...(requestTimeout === undefined ? {} : { timeoutMs: requestTimeout }),
    }),
    output,
    screen: new Screen(output.isForPeople ? process.stdout : process.stderr),
  }
}

/** Turns a body into an action of Commander. The body gets the context and returns the exit code, or nothing for 0. */
export function provideContext<A extends unknown[]>(
  body: (context: Context, ...args: A) => Promise<number | undefined> | Promise<void>,
) {
  return async (...args: unknown[]): Promise<void> => {
    const command = args.at(-1) as Command
    const code = await body(await createContext(command), ...(args.slice(0, -1) as A))
    process.exitCode = code ?? EXIT_CODES.success
  }
}
