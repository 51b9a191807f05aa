import type { Input, Schema } from '@slipway/client'
import type { Command } from 'commander'
import { UsageError } from '../exit-code.ts'
import { sanitize } from '../terminal/controls.ts'
import { formatCount } from '../terminal/table.ts'
import { type Context, provideContext } from './context.ts'
import { addRecordCommands } from './record-commands.ts'
import { findId } from './records.ts'
import { collect, omitUndefined } from './values.ts'

interface RoleOptions {
  name?: string
  permission?: string[]
  description?: string
}

const PERMISSION = 'a permission of the role, such as deployments:create (repeatable)'

export function addRoles(program: Command): void {
  const roles = addRecordCommands(program, 'roles', 'role', 'roles, which give users their permissions')
  roles
    .command('create')
    .argument('<name>', 'name of the role')
    .description('create a role')
    .requiredOption('--permission <permission>', PERMISSION, collect(String))
    .option('--description <text>', 'purpose of the role')
    .action(provideContext(create))
  roles
    .command('edit')
    .argument('<role>', 'name or id of the role')
    .description('edit a role, at once for all users with it; --permission replaces all permissions')
    .option('--name <name>', 'new name')
    .option('--permission <permission>', PERMISSION, collect(String))
    .option('--description <text>', 'new purpose')
    .action(provideContext(change))
}

/** The server checks the names of permissions. */
const buildFields = ({ name, permission, description }: RoleOptions) =>
  omitUndefined<Input<'updateRole'>['body']>({
    name,
    description,
    permissions: permission as Schema<'CreateRole'>['permissions'] | undefined,
  })

async function create({ client, output }: Context, name: string, options: RoleOptions): Promise<void> {
  const role = await client.call('createRole', { body: { permissions: [], ...buildFields(options), name } })
  output.printRecord(role, () => [`created role ${describe(role)} (${role.id})`])
}

async function change({ client, output }: Context, nameOrId: string, options: RoleOptions): Promise<void> {
  const body = buildFields(options)
  if (Object.keys(body).length === 0)
    throw new UsageError('there is no change: give --name, --permission or --description')
  const id = await findId(client, 'role', nameOrId)
  const role = await client.call('updateRole', { params: { id }, body })
  output.printRecord(role, () => [`changed role ${describe(role)}`])
}

const describe = ({ name, permissions }: Schema<'Role'>) =>
  `${sanitize(name)} with ${formatCount(permissions.length, 'permission')}`
