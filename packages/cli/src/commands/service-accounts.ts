import type { Input, Schema } from '@slipway/client'
import type { Command } from 'commander'
import { UsageError } from '../exit-code.ts'
import { addRecordCommands, type Editing } from './record-commands.ts'
import { addScopeOptions, findScope, isLimited, type ScopeOptions } from './scopes.ts'
import { type AccountOptions, addAccountOptions, buildAccount, describeAccount } from './users.ts'

type Fields = Input<'updateUser'>['body']

/** Service accounts are users of the API without e-mail, password and login. */
const SERVICE_ACCOUNT: Editing<'service-account', AccountOptions & ScopeOptions, Fields> = {
  kind: 'service-account',
  argument: ['name', 'its name, which SLIPWAY_SERVICE_ACCOUNT says in a pipeline'],
  about: {
    create: 'with a scope, its roles act there only. `trusts create` lets pipelines use it',
    edit: '`bindings` has the roles with a scope',
  },
  addOptions: (command, verb) => addAccountOptions(verb === 'create' ? addScopeOptions(command) : command, verb),
  build: (context, options, record) => buildAccount(context, options, record?.roles),
  async create({ client }, username, { roles = [], ...fields }, options) {
    const scope = await findScope(client, options)
    if (isLimited(scope) && roles.length === 0)
      throw new UsageError('--environment and --solution limit roles: give --role, too')
    const body: Schema<'CreateUser'> = {
      ...fields,
      kind: 'service',
      username,
      ...(isLimited(scope) ? { roles: [], role_bindings: roles.map((role) => ({ role, ...scope })) } : { roles }),
    }
    return await client.call('createUser', { body })
  },
  update: ({ client }, id, body) => client.call('updateUser', { params: { id }, body }),
  describe: describeAccount,
}

export function addServiceAccounts(program: Command): void {
  addRecordCommands(program, 'service-accounts', 'accounts of pipelines, which have no password', SERVICE_ACCOUNT)
}
