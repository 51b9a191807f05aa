import { formatSelector, type Item, type Schema } from '@slipway/client'
import { type Command, Option } from 'commander'
import { sanitize } from '../terminal/colour.ts'
import { formatFacts, formatTime } from '../terminal/table.ts'
import { type Context, provideContext } from './context.ts'
import { take } from './lists.ts'
import { findId, findRecord } from './records.ts'
import { collect, parseTag } from './values.ts'

type Target = Item<'listTargets'>

const STATUSES: Target['status'][] = ['online', 'stale', 'offline']

export function addTargets(program: Command): void {
  const targets = program.command('targets').description('where commands run')
  targets
    .command('list')
    .description('list targets, newest first')
    .option('--search <text>', 'only those with this text in the name')
    .option('--tag <key=value>', 'only those with this tag (repeatable: with all of them)', collect(parseTag))
    .option('-e, --environment <name>', 'only those of this environment')
    .addOption(new Option('--status <status>', 'only those with this status').choices(STATUSES))
    .action(provideContext(list))
  targets
    .command('show')
    .argument('<target>', 'name or id of the target')
    .description('show a target')
    .action(
      provideContext(async (context, nameOrId: string) => {
        const target = (await findRecord(context.client, 'target', nameOrId)) as Target
        context.output.printRecord(target, () => formatTarget(target))
      }),
    )
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

const formatTags = ({ tags }: Target) => tags.map(({ key, value }) => `${key}=${value}`).join(' ')
const formatStatus = ({ enabled, status }: Target) => (enabled ? status : `${status}, disabled`)

interface ListOptions {
  search?: string
  tag?: Schema<'Tag'>[]
  environment?: string
  status?: Target['status']
}

async function list(
  { client, output }: Context,
  { search, tag: wanted = [], environment, status }: ListOptions,
): Promise<void> {
  const [first] = wanted
  const query = {
    ...(search ? { search } : {}),
    ...(status ? { status } : {}),
    ...(environment === undefined ? {} : { environment_id: await findId(client, 'environment', environment) }),
    ...(first === undefined ? {} : { tag: `${first.key}=${first.value}` }),
  }
  // The API filters by one tag.
  const hasTags = (target: Target) =>
    wanted.every((one) => target.tags.some((its) => its.key === one.key && its.value === one.value))
  output.printList(
    (await take(client.each('listTargets', { query }))).filter(hasTags),
    [
      ['ID', ({ sqid }) => sqid],
      ['NAME', ({ name }) => name],
      ['STATUS', formatStatus],
      ['CONNECTION', ({ connection }) => connection.type],
      ['LAST SEEN', ({ last_seen_at }) => formatTime(last_seen_at)],
      ['TAGS', formatTags],
      ['LAST ERROR', ({ last_error }) => last_error],
    ],
    'no targets',
  )
}

function formatTarget(target: Target): string[] {
  const { connection } = target
  return formatFacts([
    ['target', sanitize(target.name)],
    ['id', `${target.id} (${target.sqid})`],
    ['description', target.description && sanitize(target.description)],
    ['status', formatStatus(target)],
    ['last seen', formatTime(target.last_seen_at)],
    ['not reached since', target.unreachable_since && formatTime(target.unreachable_since)],
    ['last error', target.last_error && sanitize(target.last_error)],
    [
      'connection',
      Object.entries(connection)
        .map(([key, value]) => `${key} ${value}`)
        .join(', '),
    ],
    ['environment', target.environment_id],
    ['tenant', target.tenant_id],
    ['tags', formatTags(target)],
    ['managed by', target.managed_by && sanitize(target.managed_by)],
    ['instance selector', sanitize(formatSelector(target.instance_selector))],
    ...Object.entries(target.variables).map(([name, value]) => [name, sanitize(JSON.stringify(value) ?? '')] as const),
  ])
}
