import type { Input, Item } from '@slipway/client'
import { type Command, Option } from 'commander'
import { sanitize } from '../terminal/controls.ts'
import { formatMatrix, formatPlace, formatVariants } from '../terminal/matrix.ts'
import type { Column } from '../terminal/output.ts'
import { formatReplacements } from '../terminal/replacements.ts'
import { formatDuration, formatTime, showTime } from '../terminal/table.ts'
import { type Context, provideContext } from './context.ts'
import { formatSource } from './deployment-list.ts'
import { take } from './lists.ts'
import { findId, findSourceFilter, SOURCES, type SourceKind } from './records.ts'
import { DEPLOYMENT_ARGUMENT, withDeployment } from './references.ts'
import { omitUndefined, parseOnce, parseTag } from './values.ts'
import { addListAction } from './watching.ts'

type Installed = Item<'listReleases'>
type Release = Item<'listTargetReleases'>

const STATES: Installed['state'][] = [
  'running',
  'applied',
  'drifted',
  'failed',
  'cancelled',
  'rolling_back',
  'rolled_back',
  'rollback_failed',
]

const addPlaceOptions = (command: Command) =>
  command
    .option('-e, --environment <name>', 'only in this environment, by name or id')
    .option('--tenant <name>', 'only of this tenant, by name or id')

/** Adds the commands that show what is where. */
export function addReleases(program: Command): void {
  const where = addPlaceOptions(program.command('where'))
    .argument('<source>', 'the solution, sequence or action, by name or id')
    .description('show on which targets a source is, in which version')
    .addOption(new Option('--kind <kind>', 'for ambiguous names').choices(SOURCES))
    .option('--source-version <version>', 'only where this version is in force')
    .option('--tag <key=value>', 'only on targets with this tag', parseOnce(parseTag))
    .addOption(new Option('--state <state>', 'only in this state').choices(STATES))
  addListAction(where, showWhere)
  const on = program
    .command('on')
    .argument('<target>', 'name or id of the target')
    .description('show which sources are on a target, in which versions')
    .option('--history', 'show every attempt of a deployment there instead, newest first')
  addListAction(on, showTarget)
  const matrix = addPlaceOptions(program.command('matrix'))
    .description('show which version of each source is in which environment')
    .option('--search <text>', 'only sources with this text in the name')
  addListAction(matrix, showMatrix)
  program
    .command('changes')
    .argument('<deployment>', DEPLOYMENT_ARGUMENT)
    .description('show what a deployment replaced on its targets')
    .action(provideContext(showChanges))
}

/** Enough to tell a few variants apart. */
const VARIANT_DIGITS = 8
const VARIANT_COLUMN: Column<Installed> = ['VARIANT', ({ variant }) => variant?.slice(0, VARIANT_DIGITS)]

interface Place {
  environment?: string
  tenant?: string
}

interface WhereOptions extends Place {
  kind?: SourceKind
  sourceVersion?: string
  tag?: ReturnType<typeof parseTag>
  state?: Installed['state']
}

async function findPlace({ client }: Context, { environment, tenant }: Place) {
  return {
    environment_id: environment === undefined ? undefined : await findId(client, 'environment', environment),
    tenant_id: tenant === undefined ? undefined : await findId(client, 'tenant', tenant),
  }
}

async function showWhere(context: Context, source: string, options: WhereOptions): Promise<void> {
  const { client, output } = context
  const { kind, sourceVersion, tag, state } = options
  const query = omitUndefined<NonNullable<Input<'listReleases'>['query']>>({
    ...(await findSourceFilter(client, source, kind)),
    ...(await findPlace(context, options)),
    version: sourceVersion,
    tag: tag && `${tag.key}=${tag.value}`,
    state,
  })
  const installed = await take(client.each('listReleases', { query }))
  const differs = installed.some(({ variants }) => variants > 1)
  output.printList(
    installed,
    [
      ['TARGET', ({ target_name }) => target_name],
      ['ENVIRONMENT', formatPlace],
      ['VERSION', formatVersion],
      ...(differs ? [VARIANT_COLUMN] : []),
      ['WHEN', ({ applied_at }) => showTime(applied_at)],
      ['BY', ({ applied_by }) => applied_by],
      ['LAST ATTEMPT', formatLastAttempt],
    ],
    'on no target',
    { getName: ({ target_name }) => target_name },
  )
}

const formatVersion = ({ version, variants, state }: Installed) =>
  `${version === null ? 'none' : formatVariants(version, variants)}${state === 'drifted' ? ', drifted' : ''}`
const formatState = (state: Installed['state']) => state.replaceAll('_', ' ')

/** Returns null if the last attempt is what is in force. */
function formatLastAttempt({ last_attempt: last }: Installed): string | null {
  if (last === null) return null
  const by = last.triggered_by === null ? '' : ` by ${last.triggered_by}`
  return `${last.version} ${formatState(last.state)} ${formatTime(last.ended_at ?? last.begun_at)}${by}`
}

async function showTarget(
  { client, output }: Context,
  nameOrId: string,
  { history }: { history?: boolean },
): Promise<void> {
  const id = await findId(client, 'target', nameOrId)
  if (history) {
    printHistory(output, await take(client.each('listTargetReleases', { params: { id } })))
    return
  }
  output.printList(
    await take(client.each('listReleases', { query: { target_id: id } })),
    [
      ['SOURCE', ({ source_name }) => source_name],
      ['KIND', ({ source_type }) => source_type],
      ['VERSION', formatVersion],
      ['WHEN', ({ applied_at }) => showTime(applied_at)],
      ['BY', ({ applied_by }) => applied_by],
      ['LAST ATTEMPT', formatLastAttempt],
    ],
    'nothing was deployed to it',
    { getName: ({ source_name }) => source_name },
  )
}

function printHistory(output: Context['output'], attempts: readonly Release[]): void {
  output.printList(
    attempts,
    [
      ['BEGUN', ({ begun_at }) => showTime(begun_at)],
      ['SOURCE', ({ source_name }) => source_name],
      ['KIND', ({ source_type }) => source_type],
      ['VERSION', ({ version }) => version],
      ['RESULT', ({ state, is_current }) => `${formatState(state)}${is_current ? ', in force' : ''}`],
      ['TOOK', measureDuration],
      ['BY', ({ triggered_by }) => triggered_by],
      ['DEPLOYMENT', ({ deployment_id }) => deployment_id],
    ],
    'nothing was deployed to it',
  )
}

const measureDuration = ({ begun_at, ended_at }: Release) =>
  formatDuration(ended_at === null ? null : Date.parse(ended_at) - Date.parse(begun_at))

async function showMatrix(context: Context, options: Place & { search?: string }): Promise<void> {
  const { client, output, screen } = context
  const query = omitUndefined<NonNullable<Input<'getReleaseMatrix'>['query']>>({
    ...(await findPlace(context, options)),
    search: options.search || undefined,
  })
  const rows = await take(client.each('getReleaseMatrix', { query }))
  const width = screen.isTerminal ? screen.columns : Number.POSITIVE_INFINITY
  output.printRecord(rows, () => (rows.length === 0 ? ['nothing is deployed'] : formatMatrix(rows, width, output)))
}

async function showChanges(context: Context, reference: string): Promise<void> {
  const { client, output } = context
  const { id, changes } = await withDeployment(context, reference, async (known) => ({
    id: known,
    changes: await client.call('getDeploymentChanges', { params: { id: known } }),
  }))
  if (!output.isForPeople) {
    output.printData(changes)
    return
  }
  const deployment = await client.call('getDeployment', { params: { id } })
  const version = deployment.solution_version ?? deployment.sequence_version ?? deployment.action_version
  output.writeLine(output.paint(sanitize(`${deployment.source_type} ${formatSource(deployment)}`), 'bold'))
  for (const line of formatReplacements(changes.replaces, version ?? '')) output.writeLine(line)
}
