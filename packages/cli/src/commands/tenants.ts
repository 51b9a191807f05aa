import type { Input } from '@slipway/client'
import type { Command } from 'commander'
import { addRecordCommands, type Editing } from './record-commands.ts'
import {
  addDescription,
  addSelector,
  addVariableOptions,
  buildVariables,
  type DescriptionOption,
  type SelectorOption,
  toNullable,
  type VariableOptions,
} from './record-options.ts'
import { omitUndefined } from './values.ts'

type Fields = Input<'updateTenant'>['body']

interface TenantOptions extends DescriptionOption, SelectorOption, VariableOptions {
  name?: string
  slug?: string
}

const TENANT: Editing<'tenant', TenantOptions, Fields> = {
  kind: 'tenant',
  addOptions(command, verb) {
    if (verb === 'edit') command.option('--name <name>', 'new name')
    command.option('--slug <slug>', 'short name of lower-case letters, digits and hyphens; default: made of the name')
    addDescription(command, verb)
    addVariableOptions(command, verb)
    return addSelector(command, verb)
  },
  build: (_, { name, slug, description, instances, ...variables }, record) =>
    omitUndefined<Fields>({
      name,
      slug,
      description: toNullable(description),
      instance_selector: toNullable(instances),
      ...buildVariables(variables, record),
      expected_updated_at: record?.updated_at,
    }),
  create: ({ client }, name, fields) => client.call('createTenant', { body: { ...fields, name } }),
  update: ({ client }, id, body) => client.call('updateTenant', { params: { id }, body }),
}

export function addTenants(program: Command): void {
  addRecordCommands(program, 'tenants', 'tenants, which own records', TENANT)
}
