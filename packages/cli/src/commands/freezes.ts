import type { Item, Schema } from '@slipway/client'
import type { Command } from 'commander'
import { EXIT_CODES } from '../exit-code.ts'
import { type Context, provideContext } from './context.ts'
import { take } from './lists.ts'
import { addNeeds } from './needs.ts'
import { addNoun, LIST } from './nouns.ts'
import { addDeleteCommand, addShowCommand, printRecords } from './record-commands.ts'
import { findId, findRecord } from './records.ts'
import { collect, omitUndefined, parseTimestamp } from './values.ts'
import { addListAction } from './watching.ts'

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

export function addFreezes(program: Command): void {
  const freezes = addNoun(program, 'freezes', 'times without deployments')
  const listing = freezes
    .command('list', LIST)
    .description('list freezes, newest first')
    .option('--active', 'only active freezes')
  addListAction(listing, list)
  addShowCommand(freezes, 'freeze')
  addDeleteCommand(freezes, 'freeze')
  const creation = addScopeOptions(freezes.command('create'))
    .argument('<name>', 'name of the freeze')
    .description('create a freeze; without tenant, environment and solution it applies to all deployments')
    .option(
      '--start <time>',
      'when it begins: a timestamp with a zone, now, or +2h',
      parseTimestamp,
      new Date().toISOString(),
    )
    .requiredOption('--end <time>', 'when it ends', parseTimestamp)
    .option('--recurrence <rule>', 'RFC 5545 rule that repeats the freeze, for example FREQ=WEEKLY;BYDAY=FR')
    .option('--time-zone <name>', 'time zone of the recurrence, for example Europe/Berlin')
    .option('--description <text>', 'purpose of the freeze')
    .action(provideContext(create))
  addNeeds(creation, ['--time-zone'], ['--recurrence'])
  addScopeOptions(freezes.command('check'))
    .option('-t, --target <name>', 'on this target, by name or id (repeatable)', collect(String))
    .description(
      'list the active freezes for a deployment, or without options all active ones; exit with 7 if there is one',
    )
    .action(provideContext(check))
}

async function list(context: Context, { active }: { active?: boolean }): Promise<void> {
  const freezes = await take(context.client.each('listFreezes'))
  await printRecords(context, 'freeze', active ? freezes.filter((freeze) => freeze.active) : freezes)
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
  const body = omitUndefined<Schema<'CreateFreeze'>>({
    name,
    ...times,
    description,
    ...(await findScopeIds(context, options)),
  })
  const freeze = await context.client.call('createFreeze', { body })
  context.output.printRecord(freeze, () => [
    `created freeze ${freeze.name} (${freeze.id}), ${freeze.active ? 'active now' : 'not active yet'}`,
  ])
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
