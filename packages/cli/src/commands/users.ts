import type { Input, Schema } from '@slipway/client'
import { type Command, Option } from 'commander'
import { sanitize } from '../terminal/controls.ts'
import { ask, readFirstLineOfStdin } from '../terminal/prompt.ts'
import { type Context, provideContext } from './context.ts'
import { addNoun } from './nouns.ts'
import { addDeleteCommand, addListCommand, addShowCommand } from './record-commands.ts'
import { findId } from './records.ts'
import { collect, omitUndefined } from './values.ts'

interface UserOptions {
  email?: string
  username?: string
  displayName?: string
  role?: string[]
  tenant?: string
  status?: Schema<'CreateUser'>['status']
  passwordStdin?: boolean
  breakGlass?: 'yes' | 'no'
}

export const STATUS = new Option('--status <status>', 'only an active user can log in').choices([
  'active',
  'inactive',
  'suspended',
])

export function addUsers(program: Command): void {
  const users = addNoun(program, 'users', 'users of the API')
  addListCommand(users, 'user')
  addShowCommand(users, 'user')
  users
    .command('create')
    .argument('<email>', 'e-mail of the user')
    .description('create a user')
    .requiredOption('--username <name>', 'user name, for the audit log')
    .option('--display-name <name>', 'full name')
    .option('--role <name>', 'a role of the user (repeatable)', collect(String))
    .option('--tenant <name>', 'tenant of the user, by name or id')
    .addOption(STATUS)
    .option('--password-stdin', 'read the password from stdin; asked for on a terminal')
    .action(provideContext(create))
  users
    .command('edit')
    .argument('<user>', 'e-mail or id of the user')
    .description('edit a user; --role replaces all roles without a scope')
    .option('--email <address>', 'new e-mail')
    .option('--username <name>', 'new user name')
    .option('--display-name <name>', 'new full name')
    .option('--role <name>', 'a new role of the user (repeatable)', collect(String))
    .addOption(STATUS)
    .addOption(
      new Option('--break-glass <answer>', 'may log in with a password where passwords are switched off').choices([
        'yes',
        'no',
      ]),
    )
    .option('--password-stdin', 'read a new password from stdin')
    .action(provideContext(change))
  addDeleteCommand(users, 'user')
}

/** Returns the given options as fields of the API. */
const buildFields = ({ email, username, displayName, role, status }: UserOptions) =>
  omitUndefined<Input<'updateUser'>['body']>({ email, username, display_name: displayName, roles: role, status })

async function create({ io, client, output }: Context, email: string, options: UserOptions): Promise<void> {
  const password = options.passwordStdin
    ? await readFirstLineOfStdin(io)
    : await ask(io, 'password of the new user', { hidden: true, instead: 'give --password-stdin' })
  const { tenant, username = '' } = options
  const body = {
    roles: [],
    ...buildFields(options),
    email,
    username,
    password,
    ...(tenant === undefined ? {} : { tenant_id: await findId(client, 'tenant', tenant) }),
  }
  const user = await client.call('createUser', { body })
  output.printRecord(user, () => [`created user ${sanitize(user.email ?? user.username)} (${user.id})`])
}

async function change({ io, client, output }: Context, nameOrId: string, options: UserOptions): Promise<void> {
  const id = await findId(client, 'user', nameOrId)
  const { breakGlass } = options
  const body = {
    ...buildFields(options),
    ...(breakGlass === undefined ? {} : { break_glass: breakGlass === 'yes' }),
    ...(options.passwordStdin ? { password: await readFirstLineOfStdin(io) } : {}),
  }
  const user = await client.call('updateUser', { params: { id }, body })
  output.printRecord(user, () => [
    `user ${sanitize(user.email ?? user.username)}: ${user.status}, ${user.roles.join(', ') || 'without roles'}`,
  ])
}
