import { ApiError, FrozenError, SlipwayClient } from '@slipway/client'
import type { Command } from 'commander'
import { chooseCredential } from '../configuration/credentials.ts'
import { createFetch } from '../configuration/network.ts'
import { chooseServer, type GlobalOptions } from '../configuration/server.ts'
import { EXIT_CODES, ExplainedError, UsageError } from '../exit-code.ts'
import type { Io } from '../io.ts'
import type { Path } from '../terminal/fields.ts'
import { type Format, Output } from '../terminal/output.ts'
import { formatPath, formatRefusal, listShownTargets } from '../terminal/refusal.ts'
import { Screen } from '../terminal/screen.ts'
import { describePlace, translateFields } from './field-names.ts'
import { getRoot } from './root.ts'
import { suggestTags, suggestTypes } from './suggestions.ts'

/** What every command receives. */
export interface Context {
  url: string
  io: Io
  client: SlipwayClient
  output: Output
  /** Shows progress and logs: on stdout for people, else on stderr. */
  screen: Screen
}

interface OutputOptions {
  output: Format
  select?: Path[]
}

async function createContext(command: Command): Promise<Context> {
  const { io } = getRoot(command)
  const server = chooseServer(io, command)
  const { url, context } = server
  const ownFetch = await createFetch(io.env, server.caFile)
  const credential = chooseCredential(io, server, ownFetch ?? fetch)
  if (credential === undefined) {
    const where = context === undefined ? `--url ${url}` : `--context ${context}`
    throw new UsageError(
      `there is no credential: set SLIPWAY_API_KEY (or SLIPWAY_TOKEN, or SLIPWAY_SERVICE_ACCOUNT in a pipeline), ` +
        `or run \`slipway login ${where}\``,
    )
  }
  const { output: format, select, requestTimeout } = command.optsWithGlobals<GlobalOptions & OutputOptions>()
  const output = new Output(io, format, select)
  return {
    url,
    io,
    client: new SlipwayClient({
      url,
      ...credential,
      retryForMs: io.retryForMs,
      ...(ownFetch === undefined ? {} : { fetch: ownFetch }),
      ...(requestTimeout === undefined ? {} : { timeoutMs: requestTimeout }),
    }),
    output,
    screen: new Screen(output.isForPeople ? io.stdout : io.stderr, io.env),
  }
}

/** Turns a body into an action of Commander. The body gets the context and returns the exit code, or nothing for 0. */
export function provideContext<A extends unknown[]>(
  body: (context: Context, ...args: A) => Promise<number | undefined> | Promise<void>,
) {
  return async (...args: unknown[]): Promise<void> => {
    const command = args.at(-1) as Command
    const context = await createContext(command)
    const code = await body(context, ...(args.slice(0, -1) as A)).catch(async (error: unknown) => {
      throw error instanceof ApiError ? await explain(context.client, command, error) : error
    })
    getRoot(command).exitCode = code ?? EXIT_CODES.success
  }
}

/** Says a refusal in the words of the command: the options for the fields of the API, and suggestions for what does not exist. */
async function explain(client: SlipwayClient, command: Command, error: ApiError): Promise<ExplainedError> {
  const words = {
    describePlace: (path: string) => describePlace(command, path) ?? formatPath(path),
    translate: (sentence: string) => translateFields(command, sentence),
  }
  const targetNames = error instanceof FrozenError ? await nameTargets(client, error) : undefined
  const hints = [...(await suggestTags(client, command, error)), ...suggestTypes(command, error)]
  const text = formatRefusal(error, { words, hints, ...(targetNames === undefined ? {} : { targetNames }) })
  return new ExplainedError(text, { cause: error })
}

/** The server names the targets that make a freeze apply by their ids. A target that cannot be read keeps its id. */
async function nameTargets(client: SlipwayClient, error: FrozenError): Promise<ReadonlyMap<string, string>> {
  const readName = async (id: string): Promise<[string, string]> => {
    try {
      return [id, (await client.call('getTarget', { params: { id } })).name]
    } catch {
      return [id, id]
    }
  }
  return new Map(await Promise.all(listShownTargets(error).map(readName)))
}
