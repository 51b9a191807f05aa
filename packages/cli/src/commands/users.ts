import type { Input, Schema } from '@slipway/client'
import { type Command, Option } from 'commander'
import { ask, readFirstLineOfStdin } from '../terminal/prompt.ts'
import { listBindings } from './bindings.ts'
import type { Context } from './context.ts'
import { addRecordCommands, type Editing } from './record-commands.ts'
import {
  addReference,
  addSetOption,
  addValueOption,
  addYesNo,
  findReference,
  findRoles,
  type Given,
  isYes,
  mergeSet,
  toNullable,
  type Verb,
  type YesNo,
} from './record-options.ts'
import { formatBinding, readScopeNames } from './scopes.ts'
import { omitUndefined } from './values.ts'

type Fields = Input<'updateUser'>['body']

/** Of users and of service accounts. */
export interface AccountOptions {
  displayName?: Given<string>
  role?: string[]
  removeRole?: string[]
  tenant?: Given<string>
  status?: Schema<'CreateUser'>['status']
}

interface UserOptions extends AccountOptions {
  email?: string
  username?: string
  passwordStdin?: true
  breakGlass?: YesNo
}

export function addAccountOptions(command: Command, verb: Verb): Command {
  addSetOption(command, verb, '--role <name>', 'a role', String)
  addValueOption(command, verb, '--display-name <name>', 'full name')
  addReference(command, verb, 'tenant', 'the tenant that it belongs to')
  return command.addOption(
    new Option('--status <status>', 'only an active one can log in').choices(['active', 'inactive', 'suspended']),
  )
}

/** Without the scopes of roles. */
export const buildAccount = async (context: Context, options: AccountOptions, roles: readonly string[] = []) =>
  omitUndefined<Fields>({
    display_name: toNullable(options.displayName),
    roles: mergeSet('role', roles, await findRoles(context, options.role), options.removeRole),
    status: options.status,
    tenant_id: await findReference(context, 'tenant', options.tenant),
  })

/** For example `: deployer in staging; suspended`. */
export async function describeAccount({ client, output }: Context, account: Schema<'UserRecord'>): Promise<string> {
  const names = await readScopeNames(client, output.isForPeople ? account.role_bindings : [])
  const roles = listBindings(account).map((one) => formatBinding(one, names))
  const status = account.status === 'active' ? [] : [account.status]
  return `: ${[roles.join(', ') || 'without roles', ...status].join('; ')}`
}

const USER: Editing<'user', UserOptions, Fields> = {
  kind: 'user',
  argument: ['email', 'e-mail, with which the user logs in'],
  about: { edit: '`bindings` has the roles with a scope' },
  addOptions(command, verb) {
    if (verb === 'edit') {
      command.option('--email <address>', 'new e-mail')
      addYesNo(command, '--break-glass', 'may log in with a password where passwords are switched off')
    }
    command.option(
      '--username <name>',
      'name for lists and the audit log; default: the part of the e-mail before the @',
    )
    command.option('--password-stdin', 'read the password from stdin; a terminal asks `create` for it')
    return addAccountOptions(command, verb)
  },
  build: async (context, options, record) =>
    omitUndefined<Fields>({
      ...(await buildAccount(context, options, record?.roles)),
      email: options.email,
      username: options.username,
      break_glass: isYes(options.breakGlass),
      password: options.passwordStdin && (await readFirstLineOfStdin(context.io)),
    }),
  async create({ io, client }, email, fields) {
    const username = fields.username ?? email.split('@', 1)[0] ?? email
    const password =
      fields.password ?? (await ask(io, 'password of the new user', { hidden: true, instead: 'give --password-stdin' }))
    return await client.call('createUser', { body: { roles: [], ...fields, email, username, password } })
  },
  update: ({ client }, id, body) => client.call('updateUser', { params: { id }, body }),
  describe: describeAccount,
}

export function addUsers(program: Command): void {
  addRecordCommands(program, 'users', 'users, who log in', USER)
}
