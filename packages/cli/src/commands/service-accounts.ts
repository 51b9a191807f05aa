import type { Input, Schema } from '@slipway/client'
import type { Command } from 'commander'
import { sanitize } from '../terminal/controls.ts'
import { listBindings } from './bindings.ts'
import { type Context, provideContext } from './context.ts'
import type { Names } from './names.ts'
import { addRecordCommands } from './record-commands.ts'
import { findId } from './records.ts'
import { addScopeOptions, findScope, formatBinding, isLimited, readScopeNames, type ScopeOptions } from './scopes.ts'
import { STATUS } from './users.ts'
import { collect, omitUndefined } from './values.ts'

interface AccountOptions extends ScopeOptions {
  displayName?: string
  role?: string[]
  tenant?: string
  status?: Schema<'CreateUser'>['status']
}

/** Service accounts are users of the API without e-mail, password and login. */
export function addServiceAccounts(program: Command): void {
  const accounts = addRecordCommands(
    program,
    'service-accounts',
    'service-account',
    'accounts of pipelines, which have no password',
  )
  const creation = accounts
    .command('create')
    .argument('<name>', 'name of the account, which SLIPWAY_SERVICE_ACCOUNT says in a pipeline')
    .description(
      'create a service account; with a scope, its roles act there only. `trusts create` lets pipelines use it',
    )
    .option('--role <name>', 'a role of the account (repeatable)', collect(String))
  addScopeOptions(creation)
    .option('--display-name <name>', 'full name')
    .option('--tenant <name>', 'tenant of the account, by name or id')
    .addOption(STATUS)
    .action(provideContext(create))
  accounts
    .command('edit')
    .argument('<service-account>', 'name or id of the service account')
    .description('edit a service account; --role replaces all roles without a scope')
    .option('--role <name>', 'a new role of the account (repeatable)', collect(String))
    .option('--display-name <name>', 'new full name')
    .addOption(STATUS)
    .action(provideContext(change))
}

const buildFields = ({ displayName, role, status }: AccountOptions) =>
  omitUndefined<Input<'updateUser'>['body']>({ display_name: displayName, roles: role, status })

async function create({ client, output }: Context, username: string, options: AccountOptions): Promise<void> {
  const { tenant, role: roles = [] } = options
  const scope = await findScope(client, options)
  const body: Schema<'CreateUser'> = {
    kind: 'service',
    username,
    ...buildFields(options),
    ...(isLimited(scope) ? { roles: [], role_bindings: roles.map((role) => ({ role, ...scope })) } : { roles }),
    ...(tenant === undefined ? {} : { tenant_id: await findId(client, 'tenant', tenant) }),
  }
  const account = await client.call('createUser', { body })
  const names = await readScopeNames(client, output.isForPeople ? account.role_bindings : [])
  output.printRecord(account, () => [`created service account ${describe(account, names)} (${account.id})`])
}

async function change({ client, output }: Context, nameOrId: string, options: AccountOptions): Promise<void> {
  const id = await findId(client, 'service-account', nameOrId)
  const account = await client.call('updateUser', { params: { id }, body: buildFields(options) })
  const names = await readScopeNames(client, output.isForPeople ? account.role_bindings : [])
  output.printRecord(account, () => [`service account ${describe(account, names)}: ${account.status}`])
}

function describe(account: Schema<'UserRecord'>, names: Names): string {
  const roles = listBindings(account).map((one) => formatBinding(one, names))
  return `${sanitize(account.username)}, ${roles.join('; ') || 'without roles'}`
}
