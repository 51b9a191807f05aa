import path from 'node:path'
import { type Answer, createMemoryStore, NotFoundError, SlipwayClient } from '@slipway/client'
import { type Command, Option } from 'commander'
import { findCredentialVariable } from '../configuration/credentials.ts'
import { createSessionStore, getConfigurationPath, updateConfiguration } from '../configuration/file.ts'
import { createFetch } from '../configuration/network.ts'
import { checkUrl, chooseServer, type GlobalOptions, type Server } from '../configuration/server.ts'
import { InterruptedError, RefusedError, UsageError, WaitTimeoutError } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { sanitize } from '../terminal/controls.ts'
import { ask, hasTerminal, readFirstLineOfStdin } from '../terminal/prompt.ts'
import { formatDuration, formatFacts, formatTime } from '../terminal/table.ts'
import { provideContext } from './context.ts'
import { getRoot } from './root.ts'
import { formatBinding, readScopeNames } from './scopes.ts'
import { parseDuration } from './values.ts'
import { runUntilInterrupted } from './wait.ts'

interface LoginOptions {
  email?: string
  passwordStdin?: boolean
  code?: string
  provider?: string
  /** False after `--no-browser`. */
  browser: boolean
  /** Milliseconds. */
  timeout: number
}

type Providers = Answer<'listLoginProviders'>

/** As long as the server remembers the beginning of a login. */
const LOGIN_TIMEOUT_MS = 600_000
const PASSWORD_OPTIONS = ['email', 'passwordStdin', 'code']

export function addLogin(program: Command): void {
  program
    .command('login')
    .description('log in as a person, in the browser or with a password; pipelines use SLIPWAY_SERVICE_ACCOUNT instead')
    .addOption(new Option('--provider <id>', 'log in with this provider, in the browser').conflicts(PASSWORD_OPTIONS))
    .addOption(
      new Option('--no-browser', 'print the address for the browser instead of opening it').conflicts(PASSWORD_OPTIONS),
    )
    .addOption(
      new Option('--timeout <duration>', 'how long to wait for the browser')
        .argParser(parseDuration)
        .default(LOGIN_TIMEOUT_MS, '10m'),
    )
    .option('--email <address>', 'log in with a password; e-mail of the user')
    .option('--password-stdin', 'read the password from stdin; asked for on a terminal')
    .option('--code <code>', 'the second factor: six digits or a recovery code; asked for on a terminal')
    .action(async (options: LoginOptions, command: Command) => {
      const globals = command.optsWithGlobals<GlobalOptions>()
      const { io } = getRoot(command)
      await login(io, chooseLogin(io, command, globals), options, globals.requestTimeout)
    })
  program
    .command('logout')
    .description('end the session of `slipway login` here; API keys and other machines stay logged in')
    .option('--all', 'end all sessions of the user, on all machines and in all browsers')
    .action(
      provideContext(async ({ io, client, url, output }, { all }: { all?: boolean }) => {
        const variable = findCredentialVariable(io)
        if (variable !== undefined) {
          throw new UsageError(`logout ends the session of a login: unset ${variable} first`)
        }
        await (all ? client.logout() : client.endSession())
        if (output.isForPeople) output.writeLine(`logged out of ${url}${all ? ', everywhere' : ''}`)
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

async function login(io: Io, server: Server, options: LoginOptions, timeoutMs: number | undefined): Promise<void> {
  const { url, context, caFile } = server
  const wantsPassword = options.email !== undefined || options.passwordStdin === true || options.code !== undefined
  if (wantsPassword && !options.passwordStdin) requireTerminal(io)
  const fetch = await createFetch(io.env, caFile)
  const sessions = createMemoryStore()
  const client = new SlipwayClient({
    url,
    sessions,
    retryForMs: 0,
    ...(fetch === undefined ? {} : { fetch }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  })
  const providers = await readProviders(client)
  const inBrowser =
    !wantsPassword && (providers.providers.length > 0 || options.provider !== undefined || !options.browser)
  const name = inBrowser
    ? await useBrowser(io, client, url, chooseProvider(url, providers, options.provider), options)
    : await usePassword(io, client, url, providers, options)
  remember(io, server)
  createSessionStore(io, url, context).save(sessions.load())
  io.stderr.write(`logged in to ${url} as ${name}; the session is stored in ${getConfigurationPath(io)}\n`)
  if (context === undefined) return
  io.stderr.write(
    `commands act as ${name} from now on: context ${context} is in use (\`slipway contexts leave\` ends that)\n`,
  )
}

/** A server of an earlier version knows passwords alone. */
async function readProviders(client: SlipwayClient): Promise<Providers> {
  return await client.call('listLoginProviders').catch((error: unknown) => {
    if (error instanceof NotFoundError) return { password_login: true, providers: [] }
    throw error
  })
}

function requireTerminal(io: Io): void {
  if (!hasTerminal(io)) throw new UsageError('there is no terminal to ask for password: give --password-stdin')
}

function chooseProvider(
  url: string,
  { providers }: Providers,
  wanted: string | undefined,
): Providers['providers'][number] {
  const known = providers.map(({ id, name }) => `${id} (${name})`).join(', ')
  if (providers.length === 0) throw new RefusedError(`${url} has no provider for a login in the browser: give --email`)
  const fitting = providers.filter(({ id }) => wanted === undefined || id === wanted)
  const [provider, another] = fitting
  if (provider === undefined) throw new UsageError(sanitize(`${url} has no provider "${wanted}"; there are: ${known}`))
  if (another !== undefined) {
    throw new UsageError(sanitize(`${url} has several providers: choose one with --provider ID; there are: ${known}`))
  }
  return provider
}

async function useBrowser(
  io: Io,
  client: SlipwayClient,
  url: string,
  { login_path }: Providers['providers'][number],
  { browser, timeout }: LoginOptions,
): Promise<string> {
  // Loads the HTTP server of Node, which slows down the start of all other commands.
  const { logInWithBrowser } = await import('../browser/login.ts')
  const logIn = (signal: AbortSignal) => logInWithBrowser(io, { start: url + login_path, noBrowser: !browser, signal })
  const code = await runUntilInterrupted(io, timeout, logIn).catch((error: unknown) => {
    if (error instanceof WaitTimeoutError)
      error.message = `the login in the browser did not end within ${formatDuration(timeout)}: run \`slipway login\` again`
    if (error instanceof InterruptedError) error.message = 'the login was stopped'
    throw error
  })
  const user = await client.loginWithCode(code)
  return sanitize(user.email ?? user.username)
}

async function usePassword(
  io: Io,
  client: SlipwayClient,
  url: string,
  { password_login, providers }: Providers,
  { email, passwordStdin, code }: LoginOptions,
): Promise<string> {
  if (!password_login) {
    const instead =
      providers.length > 0 ? '; to log in with the browser, leave out --email, --password-stdin and --code' : ''
    io.stderr.write(`${url} lets only users with "break_glass" log in with a password${instead}\n`)
  }
  const address = email ?? (await ask(io, 'e-mail', { instead: 'give --email' }))
  const password = passwordStdin
    ? await readFirstLineOfStdin(io)
    : await ask(io, 'password', { hidden: true, instead: 'give --password-stdin' })
  await client.login({
    email: address,
    password,
    code: () => code ?? ask(io, 'code of the second factor', { instead: 'give --code' }),
  })
  return address
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
