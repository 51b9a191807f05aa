import { SlipwayClient } from '@slipway/client'
import type { Command } from 'commander'
import { createSessionStore, getConfigurationPath, rememberServer } from '../configuration/file.ts'
import { UsageError } from '../exit-code.ts'
import { ask, readFirstLineOfStdin } from '../terminal/prompt.ts'
import { formatFacts, formatTime } from '../terminal/table.ts'
import { getServerUrl, provideContext, readEnvironmentToken } from './context.ts'

interface LoginOptions {
  email?: string
  passwordStdin?: boolean
  code?: string
}

export function addLogin(program: Command): void {
  program
    .command('login')
    .description('log in as a person; pipelines use an API key in SLIPWAY_API_KEY instead')
    .option('--email <address>', 'e-mail of the user; asked for on a terminal')
    .option('--password-stdin', 'read the password from stdin; asked for on a terminal')
    .option('--code <code>', 'the second factor: six digits or a recovery code; asked for on a terminal')
    .action(async (options: LoginOptions, command: Command) => {
      await login(getServerUrl(command), options)
    })
  program
    .command('logout')
    .description('end all sessions of the user; API keys stay')
    .action(
      provideContext(async ({ client, url, output }) => {
        if (readEnvironmentToken()) {
          throw new UsageError('logout ends the sessions of a login: unset SLIPWAY_TOKEN and SLIPWAY_API_KEY first')
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
        output.printRecord(user, () =>
          formatFacts([
            ['server', url],
            ['user', `${user.username} <${user.email}>`],
            ['name', user.display_name],
            ['roles', user.roles.join(', ')],
            ['permissions', user.permissions.join(', ')],
            ['last login', formatTime(user.last_login_at)],
          ]),
        )
      }),
    )
}

async function login(url: string, { email, passwordStdin, code }: LoginOptions): Promise<void> {
  const address = email ?? (await ask('e-mail', { instead: 'give --email' }))
  const password = passwordStdin
    ? await readFirstLineOfStdin()
    : await ask('password', { hidden: true, instead: 'give --password-stdin' })
  const client = new SlipwayClient({ url, sessions: createSessionStore(url), retryForMs: 0 })
  await client.login({
    email: address,
    password,
    code: () => code ?? ask('code of the second factor', { instead: 'give --code' }),
  })
  rememberServer(url)
  process.stderr.write(`logged in to ${url} as ${address}; the session is stored in ${getConfigurationPath()}\n`)
}
