import type { Input, Item } from '@slipway/client'
import { type Command, Option } from 'commander'
import { formatDuration, showTime } from '../terminal/table.ts'
import type { Context } from './context.ts'
import { take } from './lists.ts'
import { addNeeds } from './needs.ts'
import { SORT } from './record-commands.ts'
import { findId, findSourceFilter, SOURCES, type SourceKind } from './records.ts'
import { parsePastTime } from './times.ts'
import { omitUndefined, parseIntegerBetween } from './values.ts'

type Summary = Item<'listDeployments'>

const STATES: Summary['state'][] = [
  'pending',
  'queued',
  'running',
  'success',
  'failed',
  'cancelled',
  'rolling_back',
  'rolled_back',
]

export interface ListOptions {
  state?: Summary['state']
  search?: string
  source?: string
  kind?: SourceKind
  sourceVersion?: string
  target?: string
  environment?: string
  tenant?: string
  triggeredBy?: string
  since?: string
  until?: string
  sort?: NonNullable<NonNullable<Input<'listDeployments'>['query']>['sort']>
  limit: number
}

export function addListOptions(command: Command): Command {
  return addNeeds(command, ['--kind'], ['--source'])
    .addOption(new Option('--state <state>', 'only those in this state').choices(STATES))
    .option('--search <text>', 'only those with this text in the source name or state')
    .option('--source <name>', 'only those of this solution, sequence or action, by name or id')
    .addOption(new Option('--kind <kind>', 'the kind of --source, for ambiguous names').choices(SOURCES))
    .option('--source-version <version>', 'only those of this version of their source')
    .option('-t, --target <name>', 'only those that include this target, by name or id')
    .option('-e, --environment <name>', 'only those whose request names this environment, by name or id')
    .option('--tenant <name>', 'only those of this tenant, by name or id')
    .option('--triggered-by <name>', 'only those that this user started')
    .option(
      '--since <time>',
      'only those created since then: 2h or 7d (ago), yesterday, "2026-01-31 09:00"',
      parsePastTime,
    )
    .option('--until <time>', 'only those created before', parsePastTime)
    .option('--sort <column>', SORT)
    .option('--limit <number>', 'how many to list', parseIntegerBetween(1, 100_000), 20)
}

export const formatSource = (one: Summary) =>
  `${one.solution_name ?? one.sequence_name ?? one.action_name} ${one.solution_version ?? one.sequence_version ?? one.action_version}`

export async function listDeployments({ client, output }: Context, options: ListOptions): Promise<void> {
  const { source, kind, target, environment, tenant } = options
  const query = omitUndefined<NonNullable<Input<'listDeployments'>['query']>>({
    ...(source === undefined ? {} : await findSourceFilter(client, source, kind)),
    state: options.state,
    search: options.search || undefined,
    version: options.sourceVersion,
    target_id: target === undefined ? undefined : await findId(client, 'target', target),
    environment_id: environment === undefined ? undefined : await findId(client, 'environment', environment),
    tenant_id: tenant === undefined ? undefined : await findId(client, 'tenant', tenant),
    triggered_by: options.triggeredBy,
    created_from: options.since,
    created_before: options.until,
    sort: options.sort,
  })
  output.printList(
    await take(client.each('listDeployments', { query }), options.limit),
    [
      ['ID', ({ id }) => id],
      ['SOURCE', formatSource],
      ['STATE', (one) => one.state],
      ['STEPS', ({ completed_steps, total_steps }) => `${completed_steps}/${total_steps}`],
      ['CREATED', ({ created_at }) => showTime(created_at)],
      ['TOOK', ({ duration_ms }) => formatDuration(duration_ms)],
      ['BY', ({ triggered_by }) => triggered_by],
    ],
    environment === undefined
      ? 'no deployments'
      : `no deployments whose request names ${environment}; what its targets have: slipway matrix -e ${environment}`,
  )
}
