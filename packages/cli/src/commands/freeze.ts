import type { Item, Schema } from '@slipway/client'
import type { Command } from 'commander'
import { EXIT } from '../exit-code.ts'
import { timeText } from '../terminal/table.ts'
import { action, type Context } from './context.ts'
import { take } from './lists.ts'
import { findRecord, idOf } from './records.ts'
import { gather, given, moment } from './values.ts'

type Freeze = Item<'listFreezes'>

interface Scope {
  tenant?: string
  environment?: string
  solution?: string
}

const withScope = (command: Command) =>
  command
    .option('--tenant <name>', 'of this tenant, by name or id')
    .option('-e, --environment <name>', 'of this environment, by name or id')
    .option('--solution <name>', 'of this solution, by name or id')

export function addFreeze(program: Command): void {
  const freeze = program.command('freeze').description('times at which nothing is deployed')
  freeze
    .command('list')
    .description('list freezes, newest first')
    .option('--active', 'only those that are in force now')
    .action(action(list))
  withScope(freeze.command('create'))
    .argument('<name>', 'what the freeze is called')
    .description('forbid deployments for a time; global without tenant, environment and solution')
    .option('--start <time>', 'when it begins: a timestamp with a zone, now, or +2h', moment, new Date().toISOString())
    .requiredOption('--end <time>', 'when it ends', moment)
    .option('--recurrence <rule>', 'how it comes again, as an RFC 5545 rule, for example FREQ=WEEKLY;BYDAY=FR')
    .option('--time-zone <name>', 'the zone in which the recurrence counts, for example Europe/Berlin')
    .option('--description <text>', 'what it is for')
    .action(action(create))
  freeze
    .command('delete')
    .argument('<freeze>', 'name or id of the freeze')
    .description('delete a freeze; what it holds back goes on')
    .action(
      action(async ({ client, output }, meant: string) => {
        const { id, name } = await findRecord(client, 'freeze', meant)
        await client.call('deleteFreeze', { params: { id } })
        await output.record({ id, name, deleted: true }, () => [`deleted freeze ${name}`])
      }),
    )
  withScope(freeze.command('check'))
    .option('-t, --target <name>', 'on this target, by name or id (repeatable)', gather(String))
    .description(
      'list the freezes in force for such a deployment, without options all in force; then the exit code is 3',
    )
    .action(action(check))
}

const scopeText = ({ tenant_id, environment_id, solution_id }: Freeze) =>
  [
    tenant_id && `tenant ${tenant_id}`,
    environment_id && `environment ${environment_id}`,
    solution_id && `solution ${solution_id}`,
  ]
    .filter((part) => part !== null)
    .join(', ') || 'everything'

async function show({ output }: Context, freezes: readonly Freeze[], none: string): Promise<void> {
  await output.list(
    freezes,
    [
      ['ID', ({ id }) => id],
      ['NAME', ({ name }) => name],
      ['IN FORCE', ({ active }) => (active ? 'yes' : 'no')],
      ['START', ({ start_time }) => timeText(start_time)],
      ['END', ({ end_time }) => timeText(end_time)],
      ['AGAIN', ({ recurrence }) => recurrence],
      ['FREEZES', scopeText],
    ],
    none,
  )
}

async function list(context: Context, { active }: { active?: boolean }): Promise<void> {
  const freezes = await take(context.client.each('listFreezes'), Number.POSITIVE_INFINITY)
  await show(context, active ? freezes.filter((freeze) => freeze.active) : freezes, 'no freezes')
}

async function idsOf(
  { client }: Context,
  { tenant, environment, solution }: Scope,
): Promise<Partial<Record<'tenant_id' | 'environment_id' | 'solution_id', string>>> {
  return {
    ...(tenant === undefined ? {} : { tenant_id: await idOf(client, 'tenant', tenant) }),
    ...(environment === undefined ? {} : { environment_id: await idOf(client, 'environment', environment) }),
    ...(solution === undefined ? {} : { solution_id: await idOf(client, 'solution', solution) }),
  }
}

interface CreateOptions extends Scope {
  start: string
  end: string
  recurrence?: string
  timeZone?: string
  description?: string
}

async function create(context: Context, name: string, options: CreateOptions): Promise<void> {
  const { start, end, recurrence, timeZone, description } = options
  const times = { start_time: start, end_time: end, recurrence, time_zone: timeZone }
  const body = given<Schema<'CreateFreeze'>>({ name, ...times, description, ...(await idsOf(context, options)) })
  const freeze = await context.client.call('createFreeze', { body })
  await context.output.record(freeze, () => [
    `created freeze ${freeze.name} (${freeze.id}), ${freeze.active ? 'in force now' : 'not in force yet'}`,
  ])
}

interface CheckOptions extends Scope {
  target?: string[]
}

/** Where something is deployed: what the request names, or what a target belongs to. */
type Place = Partial<Record<'tenant_id' | 'environment_id', string | null>>

async function check(context: Context, options: CheckOptions): Promise<number> {
  const { client } = context
  const wanted = await idsOf(context, options)
  const targets = await Promise.all((options.target ?? []).map((name) => findRecord(client, 'target', name)))
  const isAboutAll = Object.keys(wanted).length === 0 && targets.length === 0
  // As the server judges. A freeze that names more than the question does may or may not apply: it is not counted.
  const matches = (freeze: Freeze, place: Place) =>
    (['tenant_id', 'environment_id'] as const).every(
      (field) => freeze[field] === null || freeze[field] === wanted[field] || freeze[field] === place[field],
    )
  const applies = (freeze: Freeze) =>
    freeze.active &&
    (isAboutAll ||
      ((freeze.solution_id === null || freeze.solution_id === wanted.solution_id) &&
        [wanted, ...targets].some((place) => matches(freeze, place))))
  const freezes = await take(client.each('listFreezes'), Number.POSITIVE_INFINITY)
  const found = freezes.filter(applies)
  await show(context, found, 'no freeze is in force')
  return found.length > 0 ? EXIT.refused : EXIT.success
}
