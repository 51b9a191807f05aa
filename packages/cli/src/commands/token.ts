import { createMemoryStore, SlipwayClient } from '@slipway/client'
import type { Command } from 'commander'
import { chooseCredential } from '../configuration/credentials.ts'
import { createFetch } from '../configuration/network.ts'
import { chooseServer, type GlobalOptions } from '../configuration/server.ts'
import { UsageError } from '../exit-code.ts'
import { type Format, Output } from '../terminal/output.ts'
import { getRoot } from './root.ts'

/** An ID token works once. A job with several commands, and one ID token, shares the access token. */
export function addToken(program: Command): void {
  program
    .command('token')
    .description('print an access token of SLIPWAY_SERVICE_ACCOUNT for SLIPWAY_TOKEN, valid for 15 minutes')
    .action(async (_options: unknown, command: Command) => {
      const { io } = getRoot(command)
      const server = chooseServer(io, command)
      const ownFetch = await createFetch(io.env, server.caFile)
      const credential = chooseCredential(io, server, ownFetch ?? fetch)
      if (credential === undefined || !('serviceAccount' in credential)) {
        throw new UsageError(
          'a token is for pipelines: set SLIPWAY_SERVICE_ACCOUNT, and neither SLIPWAY_TOKEN nor SLIPWAY_API_KEY',
        )
      }
      const { requestTimeout, output } = command.optsWithGlobals<GlobalOptions & { output: Format }>()
      const sessions = createMemoryStore()
      const client = new SlipwayClient({
        url: server.url,
        ...credential,
        sessions,
        retryForMs: io.retryForMs,
        ...(ownFetch === undefined ? {} : { fetch: ownFetch }),
        ...(requestTimeout === undefined ? {} : { timeoutMs: requestTimeout }),
      })
      const { username } = await client.call('getCurrentUser')
      const access_token = sessions.load()?.accessToken ?? ''
      new Output(io, output).printRecord({ username, access_token }, () => [access_token])
    })
}
