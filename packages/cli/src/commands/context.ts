import { SlipwayClient } from '@slipway/client'
import type { Command } from 'commander'
import { createSessionStore, readConfiguration } from '../configuration/file.ts'
import { EXIT_CODES, UsageError } from '../exit-code.ts'
import { type Format, Output } from '../terminal/output.ts'
import { Screen } from '../terminal/screen.ts'

const DEFAULT_URL = 'http://127.0.0.1:8080'

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

interface GlobalOptions {
  url?: string
  output: Format
}

/** Returns the URL of the server: from --url, SLIPWAY_URL, or the last login. */
export function getServerUrl(command: Command): string {
  const { url } = command.optsWithGlobals<GlobalOptions>()
  const given = url || process.env['SLIPWAY_URL'] || readConfiguration().url || DEFAULT_URL
  if (!/^https?:$/.test(getProtocol(given))) {
    throw new UsageError(`the address of the server is "${given}": it must begin with http:// or https://`)
  }
  return given.replace(/\/+$/, '')
}

function getProtocol(url: string): string {
  try {
    return new URL(url).protocol
  } catch {
    return ''
  }
}

export const readEnvironmentToken = () => process.env['SLIPWAY_TOKEN'] || process.env['SLIPWAY_API_KEY']

/** Authenticates with SLIPWAY_TOKEN or SLIPWAY_API_KEY, else with the session of `slipway login`. */
function createContext(command: Command): Context {
  const url = getServerUrl(command)
  const token = readEnvironmentToken()
  const sessions = createSessionStore(url)
  if (!token && !sessions.load()) {
    throw new UsageError(
      `there is no credential: set SLIPWAY_API_KEY (or SLIPWAY_TOKEN), or run \`slipway login --url ${url}\``,
    )
  }
  const output = new Output(command.optsWithGlobals<GlobalOptions>().output)
  return {
    url,
    client: new SlipwayClient({ url, sessions, retryForMs: RETRY_FOR_MS, ...(token ? { token } : {}) }),
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
    const code = await body(createContext(command), ...(args.slice(0, -1) as A))
    process.exitCode = code ?? EXIT_CODES.success
  }
}
