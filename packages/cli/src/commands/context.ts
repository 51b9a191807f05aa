import { SlipwayClient } from '@slipway/client'
import type { Command } from 'commander'
import { readConfiguration, sessionsOf } from '../configuration/file.ts'
import { EXIT, UsageError } from '../exit-code.ts'
import { type Format, Output } from '../terminal/output.ts'
import { Screen } from '../terminal/screen.ts'

const DEFAULT_URL = 'http://127.0.0.1:8080'

/** How long a command bears with a server that is restarted in the middle of it. */
const RETRY_FOR_MS = 60_000

/** What every command works with. */
export interface Context {
  url: string
  client: SlipwayClient
  output: Output
  /** Where progress and logs are shown: where nobody parses what is written. */
  screen: Screen
}

interface GlobalOptions {
  url?: string
  output: Format
}

/** The server that is meant: the option, the environment, the last login. */
export function serverUrl(command: Command): string {
  const { url } = command.optsWithGlobals<GlobalOptions>()
  const given = url || process.env['SLIPWAY_URL'] || readConfiguration().url || DEFAULT_URL
  if (!/^https?:$/.test(protocolOf(given))) {
    throw new UsageError(`the server's address must begin with http:// or https://, and is "${given}"`)
  }
  return given.replace(/\/+$/, '')
}

function protocolOf(url: string): string {
  try {
    return new URL(url).protocol
  } catch {
    return ''
  }
}

export const tokenOfEnvironment = () => process.env['SLIPWAY_TOKEN'] || process.env['SLIPWAY_API_KEY']

/** Says as whom: SLIPWAY_TOKEN or SLIPWAY_API_KEY, else the session of `slipway login`. */
function contextOf(command: Command): Context {
  const url = serverUrl(command)
  const token = tokenOfEnvironment()
  const sessions = sessionsOf(url)
  if (!token && !sessions.load()) {
    throw new UsageError(`say as whom: set SLIPWAY_API_KEY (or SLIPWAY_TOKEN), or run \`slipway login --url ${url}\``)
  }
  const output = new Output(command.optsWithGlobals<GlobalOptions>().output)
  return {
    url,
    client: new SlipwayClient({ url, sessions, retryForMs: RETRY_FOR_MS, ...(token ? { token } : {}) }),
    output,
    screen: new Screen(output.forPeople ? process.stdout : process.stderr),
  }
}

/** The body of a command: its arguments, then its options. What it returns is the exit code, 0 unless given. */
export function action<A extends unknown[]>(
  body: (context: Context, ...args: A) => Promise<number | undefined> | Promise<void>,
) {
  return async (...args: unknown[]): Promise<void> => {
    const command = args.at(-1) as Command
    const code = await body(contextOf(command), ...(args.slice(0, -1) as A))
    process.exitCode = code ?? EXIT.success
  }
}
