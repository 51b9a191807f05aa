import type { Input, Schema } from '@slipway/client'
import type { Command } from 'commander'
import { sanitize } from '../terminal/controls.ts'
import { type Context, provideContext } from './context.ts'
import { addRecordCommands } from './record-commands.ts'
import { findId } from './records.ts'
import { STATUS } from './users.ts'
import { collect, omitUndefined } from './values.ts'

interface AccountOptions {
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
  accounts
    .command('create')
    .argument('<name>', 'name of the account, unique among users')
    .description('create a service account')
    .option('--role <name>', 'a role of the account (repeatable)', collect(String))
    .option('--display-name <name>', 'full name')
    .option('--tenant <name>', 'tenant of the account, by name or id')
    .addOption(STATUS)
    .action(provideContext(create))
  accounts
    .command('change')
    .argument('<service-account>', 'name or id of the service-account')
    .description('change a service account; --role replaces all roles')
    .option('--role <name>', 'a new role of the account (repeatable)', collect(String))
    .option('--display-name <name>', 'new full name')
    .addOption(STATUS)
    .action(provideContext(change))
}

const buildFields = ({ displayName, role, status }: AccountOptions) =>
  omitUndefined<Input<'updateUser'>['body']>({ display_name: displayName, roles: role, status })

async function create({ client, output }: Context, username: string, options: AccountOptions): Promise<void> {
  const { tenant } = options
  const body: Schema<'CreateUser'> = {
    kind: 'service',
    username,
    roles: [],
    ...buildFields(options),
    ...(tenant === undefined ? {} : { tenant_id: await findId(client, 'tenant', tenant) }),
  }
  const account = await client.call('createUser', { body })
  output.printRecord(account, () => [`created service account ${describe(account)} (${account.id})`])
}

async function change({ client, output }: Context, nameOrId: string, options: AccountOptions): Promise<void> {
  const id = await findId(client, 'service-account', nameOrId)
  const account = await client.call('updateUser', { params: { id }, body: buildFields(options) })
  output.printRecord(account, () => [`service account ${describe(account)}: ${account.status}`])
}

const describe = ({ username, roles }: Schema<'UserRecord'>) =>
  `${sanitize(username)}, ${roles.length === 0 ? 'without roles' : sanitize(roles.join(', '))}`
