import type { Input, Item, Schema } from '@slipway/client'
import { type Command, Option } from 'commander'
import { sanitize } from '../terminal/controls.ts'
import { type Context, provideContext } from './context.ts'
import { take } from './lists.ts'
import { addNoun, LIST } from './nouns.ts'
import { addDeleteCommand, addShowCommand, printRecords, SORT } from './record-commands.ts'
import { findId } from './records.ts'
import { collect, parseTag } from './values.ts'
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
  addShowCommand(targets, 'target')
  addDeleteCommand(targets, 'target')
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
