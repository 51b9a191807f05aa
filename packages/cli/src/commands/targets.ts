import type { Item, Schema } from '@slipway/client'
import type { Command } from 'commander'
import { harmless } from '../terminal/colour.ts'
import { facts, timeText } from '../terminal/table.ts'
import { action, type Context } from './context.ts'
import { take } from './lists.ts'
import { findRecord, idOf } from './records.ts'
import { gather, tag } from './values.ts'

type Target = Item<'listTargets'>

export function addTargets(program: Command): void {
  const targets = program.command('targets').description('where commands run')
  targets
    .command('list')
    .description('list targets, newest first')
    .option('--search <text>', 'only those whose name contains it')
    .option('--tag <key=value>', 'only those with this tag (repeatable: with all of them)', gather(tag))
    .option('-e, --environment <name>', 'only those of this environment')
    .action(action(list))
  targets
    .command('show')
    .argument('<target>', 'name or id of the target')
    .description('show a target')
    .action(
      action(async (context, meant: string) => {
        const target = (await findRecord(context.client, 'target', meant)) as Target
        await context.output.record(target, () => lines(target))
      }),
    )
  for (const [name, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    targets
      .command(name)
      .argument('<target>', 'name or id of the target')
      .description(enabled ? 'let a target take part in deployments again' : 'keep a target out of deployments')
      .action(
        action(async (context, meant: string) => {
          const id = await idOf(context.client, 'target', meant)
          const target = await context.client.call('updateTarget', { params: { id }, body: { enabled } })
          await context.output.record(target, () => [`target ${harmless(target.name)} is ${name}d`])
        }),
      )
  }
}

const tagsText = ({ tags }: Target) => tags.map(({ key, value }) => `${key}=${value}`).join(' ')
const statusText = ({ enabled, status }: Target) => (enabled ? status : `${status}, disabled`)

async function list(
  { client, output }: Context,
  { search, tag: wanted = [], environment }: { search?: string; tag?: Schema<'Tag'>[]; environment?: string },
): Promise<void> {
  const environmentId = environment === undefined ? null : await idOf(client, 'environment', environment)
  const all = await take(client.each('listTargets', { query: search ? { search } : {} }), Number.POSITIVE_INFINITY)
  const has = (target: Target) =>
    wanted.every((one) => target.tags.some((its) => its.key === one.key && its.value === one.value))
  await output.list(
    all.filter((target) => has(target) && (environmentId === null || target.environment_id === environmentId)),
    [
      ['ID', ({ sqid }) => sqid],
      ['NAME', ({ name }) => name],
      ['STATUS', statusText],
      ['CONNECTION', ({ connection }) => connection.type],
      ['LAST SEEN', ({ last_seen_at }) => timeText(last_seen_at)],
      ['TAGS', tagsText],
    ],
    'no targets',
  )
}

function lines(target: Target): string[] {
  const { connection } = target
  return facts([
    ['target', harmless(target.name)],
    ['id', `${target.id} (${target.sqid})`],
    ['description', target.description && harmless(target.description)],
    ['status', statusText(target)],
    ['last seen', timeText(target.last_seen_at)],
    [
      'connection',
      Object.entries(connection)
        .map(([key, value]) => `${key} ${value}`)
        .join(', '),
    ],
    ['environment', target.environment_id],
    ['tenant', target.tenant_id],
    ['tags', tagsText(target)],
    ...Object.entries(target.variables).map(([name, value]) => [name, harmless(JSON.stringify(value) ?? '')] as const),
  ])
}
