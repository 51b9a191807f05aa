import type { Input, Schema } from '@slipway/client'
import type { Command } from 'commander'
import { formatCount } from '../terminal/table.ts'
import { addRecordCommands, type Editing } from './record-commands.ts'
import {
  addDescription,
  addSetOption,
  type DescriptionOption,
  mergeSet,
  requireOption,
  toNullable,
} from './record-options.ts'
import { omitUndefined } from './values.ts'

type Fields = Input<'updateRole'>['body']

interface RoleOptions extends DescriptionOption {
  name?: string
  permission?: string[]
  removePermission?: string[]
}

const ROLE: Editing<'role', RoleOptions, Fields> = {
  kind: 'role',
  about: { edit: 'a change counts at once for all users with it' },
  addOptions(command, verb) {
    if (verb === 'edit') command.option('--name <name>', 'new name')
    addSetOption(command, verb, '--permission <permission>', 'a permission, such as deployments:create', String)
    if (verb === 'create') requireOption(command, '--permission')
    return addDescription(command, verb)
  },
  build: (_, { name, permission, removePermission, description }, record) =>
    omitUndefined<Fields>({
      name,
      description: toNullable(description),
      // The server checks the names of permissions.
      permissions: mergeSet('permission', record?.permissions ?? [], permission, removePermission) as
        | Schema<'CreateRole'>['permissions']
        | undefined,
      expected_updated_at: record?.updated_at,
    }),
  create: ({ client }, name, fields) => client.call('createRole', { body: { permissions: [], ...fields, name } }),
  update: ({ client }, id, body) => client.call('updateRole', { params: { id }, body }),
  describe: (_, { permissions }) => `: ${formatCount(permissions.length, 'permission')}`,
}

export function addRoles(program: Command): void {
  addRecordCommands(program, 'roles', 'roles, which give users their permissions', ROLE)
}
