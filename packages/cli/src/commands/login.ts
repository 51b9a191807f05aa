import path from 'node:path'
import { createMemoryStore, SlipwayClient } from '@slipway/client'
import type { Command } from 'commander'
import { findCredentialVariable } from '../configuration/credentials.ts'
import { createSessionStore, getConfigurationPath, updateConfiguration } from '../configuration/file.ts'
import { createFetch } from '../configuration/network.ts'
import { checkUrl, chooseServer, type GlobalOptions, type Server } from '../configuration/server.ts'
import { UsageError } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { sanitize } from '../terminal/controls.ts'
import { ask, readFirstLineOfStdin } from '../terminal/prompt.ts'
import { formatFacts, formatTime } from '../terminal/table.ts'
import { provideContext } from './context.ts'
import { getRoot } from './root.ts'
import { formatBinding, readScopeNames } from './scopes.ts'

interface LoginOptions {
  email?: string
  passwordStdin?: boolean
  code?: string
}

export function addLogin(program: Command): void {
  program
    .command('login')
    .description('log in as a person; pipelines use SLIPWAY_SERVICE_ACCOUNT instead')
    .option('--email <address>', 'e-mail of the user; asked for on a terminal')
    .option('--password-stdin', 'read the password from stdin; asked for on a terminal')
    .option('--code <code>', 'the second factor: six digits or a recovery code; asked for on a terminal')
    .action(async (options: LoginOptions, command: Command) => {
      const globals = command.optsWithGlobals<GlobalOptions>()
      const { io } = getRoot(command)
      await login(io, chooseLogin(io, command, globals), options, globals.requestTimeout)
    })
  program
    .command('logout')
    .description('end all sessions of the user; API keys stay')
    .action(
      provideContext(async ({ io, client, url, output }) => {
        const variable = findCredentialVariable(io)
        if (variable !== undefined) {
          throw new UsageError(`logout ends the sessions of a login: unset ${variable} first`)
        }
        await client.logout()
        if (output.isForPeople) output.writeLine(`logged out of ${url}`)
      }),
    )
  program
    .command('whoami')
    .description('show the calling user and the permissions')
    .action(
      provideContext(async ({ client, url, output }) => {
        const user = await client.call('getCurrentUser')
        // A server of an earlier version has no bindings.
        const { role_bindings = [] } = user
        const names = await readScopeNames(client, output.isForPeople ? role_bindings : [])
        output.printRecord(user, () =>
          formatFacts([
            ['server', url],
            ['user', sanitize(user.email === null ? user.username : `${user.username} <${user.email}>`)],
            ['name', user.display_name],
            ['API key', user.api_key_name],
            ['roles', user.roles.join(', ')],
            ...role_bindings.map((one): [string, string] => ['role', formatBinding(one, names)]),
            ['permissions', user.permissions.join(', ')],
            ['last login', formatTime(user.last_login_at)],
          ]),
        )
      }),
    )
}

/** With --context and --url, `login` makes the context, or gives it another server. */
function chooseLogin(io: Io, command: Command, { url, context, caFile }: GlobalOptions): Server {
  if (context === undefined || url === undefined) return chooseServer(io, command)
  return { url: checkUrl(url), context, ...(caFile === undefined ? {} : { caFile: path.resolve(caFile) }) }
}

async function login(
  io: Io,
  server: Server,
  { email, passwordStdin, code }: LoginOptions,
  timeoutMs: number | undefined,
): Promise<void> {
  const { url, context, caFile } = server
  const fetch = await createFetch(io.env, caFile)
  const address = email ?? (await ask(io, 'e-mail', { instead: 'give --email' }))
  const password = passwordStdin
    ? await readFirstLineOfStdin(io)
    : await ask(io, 'password', { hidden: true, instead: 'give --password-stdin' })
  const sessions = createMemoryStore()
  const client = new SlipwayClient({
    url,
    sessions,
    retryForMs: 0,
    ...(fetch === undefined ? {} : { fetch }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  })
  await client.login({
    email: address,
    password,
    code: () => code ?? ask(io, 'code of the second factor', { instead: 'give --code' }),
  })
  remember(io, server)
  createSessionStore(io, url, context).save(sessions.load())
  io.stderr.write(`logged in to ${url} as ${address}; the session is stored in ${getConfigurationPath(io)}\n`)
}

function remember(io: Io, { url, context, caFile }: Server): void {
  updateConfiguration(io, (configuration) => {
    if (context === undefined) configuration.url = url
    else
      configuration.contexts = { ...configuration.contexts, [context]: { url, ...(caFile ? { ca_file: caFile } : {}) } }
    if (context === undefined) delete configuration.context
    else configuration.context = context
  })
}
