import type { Input, Item, Schema } from '@slipway/client'
import { type Command, Option } from 'commander'
import { sanitize } from '../terminal/controls.ts'
import { formatTime } from '../terminal/table.ts'
import { type Context, provideContext } from './context.ts'
import { take } from './lists.ts'
import { addNoun, LIST } from './nouns.ts'
import { addVerbs, type Editing, printRecords, SORT } from './record-commands.ts'
import {
  addConcurrency,
  addDescription,
  addReference,
  addSelector,
  addSetOption,
  addVariableOptions,
  addYesNo,
  buildVariables,
  type ConcurrencyOption,
  type DescriptionOption,
  findReference,
  type Given,
  isYes,
  mergeSet,
  type SelectorOption,
  toNullable,
  type VariableOptions,
  type YesNo,
} from './record-options.ts'
import { findId } from './records.ts'
import { addConnectionOptions, buildConnection, type ConnectionOptions } from './target-connection.ts'
import { collect, omitUndefined, parseTag } from './values.ts'
import { addListAction } from './watching.ts'

type Target = Item<'listTargets'>

const STATUSES: Target['status'][] = ['online', 'stale', 'offline']

export function addTargets(program: Command): void {
  const targets = addNoun(program, 'targets', 'where commands run')
  const listing = targets
    .command('list', LIST)
    .description('list targets, newest first')
    .option('--search <text>', 'only those with this text in the name')
    .option('--sort <column>', SORT)
    .option('--tag <key=value>', 'only those with this tag (repeatable: with all of them)', collect(parseTag))
    .option('-e, --environment <name>', 'only those of this environment')
    .addOption(new Option('--status <status>', 'only those with this status').choices(STATUSES))
  addListAction(listing, list)
  addVerbs(targets, TARGET)
  targets
    .command('agent-token')
    .argument('<target>', 'name or id of the target')
    .description('make a token with which the agent of a target enrols, once within an hour; earlier tokens are void')
    .action(provideContext(createAgentToken))
  for (const [name, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    targets
      .command(name)
      .argument('<target>', 'name or id of the target')
      .description(enabled ? 'include a target in deployments again' : 'exclude a target from deployments')
      .action(
        provideContext(async (context, nameOrId: string) => {
          const id = await findId(context.client, 'target', nameOrId)
          const target = await context.client.call('updateTarget', { params: { id }, body: { enabled } })
          context.output.printRecord(target, () => [`target ${sanitize(target.name)} is ${name}d`])
        }),
      )
  }
}

interface TargetOptions
  extends DescriptionOption,
    ConnectionOptions,
    VariableOptions,
    SelectorOption,
    ConcurrencyOption {
  name?: string
  tag?: Schema<'Tag'>[]
  removeTag?: Schema<'Tag'>[]
  environment?: Given<string>
  tenant?: Given<string>
  enabled?: YesNo
}

type Fields = Input<'updateTarget'>['body']

const formatTag = ({ key, value }: Schema<'Tag'>) => `${key}=${value}`

const TARGET: Editing<'target', TargetOptions, Fields> = {
  kind: 'target',
  about: { create: 'reached by SSH (--host), or as --connection says' },
  addOptions(command, verb) {
    if (verb === 'edit') command.option('--name <name>', 'new name')
    addConnectionOptions(command, verb)
    addSetOption(command, verb, '--tag <key=value>', 'a tag, by which deployments select targets', parseTag)
    addReference(command, verb, 'environment', 'the environment that it belongs to')
    addYesNo(command, '--enabled', 'whether deployments may use it')
    addVariableOptions(command, verb)
    addConcurrency(command, verb)
    addSelector(command, verb)
    addReference(command, verb, 'tenant', 'the tenant that owns it')
    return addDescription(command, verb)
  },
  build: async (context, options, record) =>
    omitUndefined<Fields>({
      name: options.name,
      description: toNullable(options.description),
      connection: await buildConnection(context, options, record),
      tags: mergeSet('tag', record?.tags ?? [], options.tag, options.removeTag, formatTag),
      environment_id: await findReference(context, 'environment', options.environment),
      tenant_id: await findReference(context, 'tenant', options.tenant),
      enabled: isYes(options.enabled),
      concurrency: toNullable(options.concurrency),
      instance_selector: toNullable(options.instances),
      ...buildVariables(options, record),
      expected_updated_at: record?.updated_at,
    }),
  async create({ io, client, output }, name, { connection, ...fields }) {
    if (connection === undefined) throw new Error('a new target has a connection')
    const target = await client.call('createTarget', { body: { ...fields, name, connection } })
    if (connection.type === 'agent' && output.isForPeople)
      io.stderr.write(`its agent enrols with the token of \`slipway targets agent-token ${name}\`\n`)
    return target
  },
  update: ({ client }, id, body) => client.call('updateTarget', { params: { id }, body }),
}

async function createAgentToken({ io, client, output }: Context, nameOrId: string): Promise<void> {
  const id = await findId(client, 'target', nameOrId)
  const token = await client.call('createAgentToken', { params: { id } })
  // Print only the token on stdout, for `slipway targets agent-token web-1 >token`.
  if (output.isForPeople)
    io.stderr.write(`one agent enrols with this token until ${formatTime(token.expires_at)}; it is not shown again\n`)
  output.printRecord(token, () => [token.token])
}

interface ListOptions {
  search?: string
  sort?: NonNullable<NonNullable<Input<'listTargets'>['query']>['sort']>
  tag?: Schema<'Tag'>[]
  environment?: string
  status?: Target['status']
}

async function list(context: Context, options: ListOptions): Promise<void> {
  const { client } = context
  const { search, sort, tag: requiredTags = [], environment, status } = options
  const [first] = requiredTags
  const query = {
    ...(search ? { search } : {}),
    ...(sort ? { sort } : {}),
    ...(status ? { status } : {}),
    ...(environment === undefined ? {} : { environment_id: await findId(client, 'environment', environment) }),
    ...(first === undefined ? {} : { tag: `${first.key}=${first.value}` }),
  }
  // The API filters by one tag.
  const hasTags = (target: Target) =>
    requiredTags.every((one) => target.tags.some((its) => its.key === one.key && its.value === one.value))
  const found = await take(client.each('listTargets', { query }))
  await printRecords(context, 'target', found.filter(hasTags))
}
