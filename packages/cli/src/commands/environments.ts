import type { Input } from '@slipway/client'
import type { Command } from 'commander'
import { addRuleOptions, buildRules, type RuleOptions } from './environment-rules.ts'
import { addRecordCommands, type Editing } from './record-commands.ts'
import {
  addConcurrency,
  addDescription,
  addReference,
  addSelector,
  addValueOption,
  addVariableOptions,
  buildVariables,
  type ConcurrencyOption,
  type DescriptionOption,
  findReference,
  type Given,
  type SelectorOption,
  toNullable,
  type VariableOptions,
} from './record-options.ts'
import { omitUndefined, parseIntegerBetween } from './values.ts'

type Fields = Input<'updateEnvironment'>['body']

interface EnvironmentOptions
  extends DescriptionOption,
    ConcurrencyOption,
    SelectorOption,
    VariableOptions,
    RuleOptions {
  name?: string
  position?: Given<number>
  tenant?: Given<string>
}

const ENVIRONMENT: Editing<'environment', EnvironmentOptions, Fields> = {
  kind: 'environment',
  about: { create: 'windows for deployments come from catalog files (`slipway apply`)' },
  addOptions(command, verb) {
    if (verb === 'edit') command.option('--name <name>', 'new name')
    addDescription(command, verb)
    addValueOption(
      command,
      verb,
      '--position <number>',
      'place in lists and in the matrix: smaller numbers come first',
      parseIntegerBetween(0, 1_000_000),
    )
    addVariableOptions(command, verb)
    addRuleOptions(command, verb)
    addConcurrency(command, verb)
    addSelector(command, verb)
    return addReference(command, verb, 'tenant', 'the tenant that owns it')
  },
  build: async (context, options, record) =>
    omitUndefined<Fields>({
      name: options.name,
      description: toNullable(options.description),
      position: toNullable(options.position),
      tenant_id: await findReference(context, 'tenant', options.tenant),
      concurrency: toNullable(options.concurrency),
      instance_selector: toNullable(options.instances),
      rules: await buildRules(context, options, record?.rules ?? {}),
      ...buildVariables(options, record),
      expected_updated_at: record?.updated_at,
    }),
  create: ({ client }, name, fields) => client.call('createEnvironment', { body: { ...fields, name } }),
  update: ({ client }, id, body) => client.call('updateEnvironment', { params: { id }, body }),
}

export function addEnvironments(program: Command): void {
  addRecordCommands(program, 'environments', 'environments of targets', ENVIRONMENT)
}
