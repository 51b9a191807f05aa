import type { Input, Item } from '@slipway/client'
import type { Command } from 'commander'
import { EXIT_CODES, UsageError } from '../exit-code.ts'
import { formatTime } from '../terminal/table.ts'
import { type Context, provideContext } from './context.ts'
import { take } from './lists.ts'
import { addNeeds } from './needs.ts'
import { addNoun } from './nouns.ts'
import { addListCommand, addVerbs, type Editing, printRecords } from './record-commands.ts'
import {
  addDescription,
  addReference,
  addValueOption,
  type DescriptionOption,
  findReference,
  type Given,
  requireOption,
  toNullable,
} from './record-options.ts'
import { findId, findRecord } from './records.ts'
import { parseFutureTime } from './times.ts'
import { collect, omitUndefined } from './values.ts'

type Freeze = Item<'listFreezes'>

interface Scope {
  tenant?: string
  environment?: string
  solution?: string
}

const addScopeOptions = (command: Command) =>
  command
    .option('--tenant <name>', 'of this tenant, by name or id')
    .option('-e, --environment <name>', 'of this environment, by name or id')
    .option('--solution <name>', 'of this solution, by name or id')

interface FreezeOptions extends DescriptionOption {
  name?: string
  start?: string
  end?: string
  recurrence?: Given<string>
  timeZone?: Given<string>
  tenant?: Given<string>
  environment?: Given<string>
  solution?: Given<string>
}

type Fields = Input<'updateFreeze'>['body']

const FREEZE: Editing<'freeze', FreezeOptions, Fields> = {
  kind: 'freeze',
  about: { create: 'without tenant, environment and solution it applies to all deployments' },
  addOptions(command, verb) {
    if (verb === 'edit') command.option('--name <name>', 'new name')
    command.option('--start <time>', `when it begins${verb === 'create' ? '; default: now' : ''}`, parseFutureTime)
    command.option('--end <time>', 'when it ends: +2h, "tomorrow 06:00", "2026-01-31 09:00"', parseFutureTime)
    if (verb === 'create') requireOption(command, '--end')
    addValueOption(
      command,
      verb,
      '--recurrence <rule>',
      'RFC 5545 rule that repeats it, for example FREQ=WEEKLY;BYDAY=FR',
    )
    addValueOption(command, verb, '--time-zone <name>', 'time zone of the recurrence, for example Europe/Berlin')
    addReference(command, verb, 'tenant', 'only deployments of this tenant and to its targets')
    addReference(command, verb, 'environment', 'only deployments of this environment and to its targets')
    addReference(command, verb, 'solution', 'only deployments of this solution')
    if (verb === 'create') addNeeds(command, ['--time-zone'], ['--recurrence'])
    return addDescription(command, verb)
  },
  build: async (context, options, record) =>
    omitUndefined<Fields>({
      name: options.name,
      description: toNullable(options.description),
      start_time: options.start,
      end_time: options.end,
      recurrence: toNullable(options.recurrence),
      time_zone: toNullable(options.timeZone),
      tenant_id: await findReference(context, 'tenant', options.tenant),
      environment_id: await findReference(context, 'environment', options.environment),
      solution_id: await findReference(context, 'solution', options.solution),
      expected_updated_at: record?.updated_at,
    }),
  create({ client }, name, { start_time = new Date().toISOString(), end_time, ...fields }) {
    if (end_time === undefined) throw new UsageError('a freeze needs --end')
    return client.call('createFreeze', { body: { ...fields, name, start_time, end_time } })
  },
  update: ({ client }, id, body) => client.call('updateFreeze', { params: { id }, body }),
  describe: (_, { start_time, end_time, recurrence, active }) => {
    const times = `${formatTime(start_time)} to ${formatTime(end_time)}${recurrence === null ? '' : ', and again'}`
    return `, ${times}, ${active ? 'active now' : 'not active now'}`
  },
}

export function addFreezes(program: Command): void {
  const freezes = addNoun(program, 'freezes', 'times without deployments')
  const isWanted = (freeze: Freeze, { active }: { active?: boolean }) => freeze.active || !active
  addListCommand(freezes, 'freeze', isWanted).option('--active', 'only active freezes')
  addVerbs(freezes, FREEZE)
  addScopeOptions(freezes.command('check'))
    .option('-t, --target <name>', 'on this target, by name or id (repeatable)', collect(String))
    .description(
      'list the active freezes for a deployment, or without options all active ones; exit with 7 if there is one',
    )
    .action(provideContext(check))
}

async function findScopeIds(
  { client }: Context,
  { tenant, environment, solution }: Scope,
): Promise<Partial<Record<'tenant_id' | 'environment_id' | 'solution_id', string>>> {
  return {
    ...(tenant === undefined ? {} : { tenant_id: await findId(client, 'tenant', tenant) }),
    ...(environment === undefined ? {} : { environment_id: await findId(client, 'environment', environment) }),
    ...(solution === undefined ? {} : { solution_id: await findId(client, 'solution', solution) }),
  }
}

interface CheckOptions extends Scope {
  target?: string[]
}

/** The tenant and environment of the options or of a target. */
type Place = Partial<Record<'tenant_id' | 'environment_id', string | null>>

async function check(context: Context, options: CheckOptions): Promise<number> {
  const { client } = context
  const scope = await findScopeIds(context, options)
  const targets = await Promise.all((options.target ?? []).map((name) => findRecord(client, 'target', name)))
  const isAboutAll = Object.keys(scope).length === 0 && targets.length === 0
  // Use the server's rules. Leave out a freeze that names more than the options do: it may not apply.
  const matches = (freeze: Freeze, place: Place) =>
    (['tenant_id', 'environment_id'] as const).every(
      (field) => freeze[field] === null || freeze[field] === scope[field] || freeze[field] === place[field],
    )
  const applies = (freeze: Freeze) =>
    freeze.active &&
    (isAboutAll ||
      ((freeze.solution_id === null || freeze.solution_id === scope.solution_id) &&
        [scope, ...targets].some((place) => matches(freeze, place))))
  const freezes = await take(client.each('listFreezes'))
  const found = freezes.filter(applies)
  await printRecords(context, 'freeze', found, 'no freeze is active')
  return found.length > 0 ? EXIT_CODES.blocked : EXIT_CODES.success
}
