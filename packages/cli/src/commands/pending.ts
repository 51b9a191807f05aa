import type { Schema } from '@slipway/client'
import { type Command, Option } from 'commander'
import { sanitize } from '../terminal/controls.ts'
import { formatNames } from '../terminal/name-list.ts'
import { formatFacts, formatTime, localizeTimes, showTime, toIsoTime } from '../terminal/table.ts'
import { formatApprovals } from './approvals.ts'
import { type Context, provideContext } from './context.ts'
import { addNoun, LIST } from './nouns.ts'
import { findId } from './records.ts'
import { resolveRequestId } from './references.ts'
import { parseIntegerBetween } from './values.ts'
import { getWaitingReason, readPending } from './wait.ts'
import { addListAction } from './watching.ts'

type Pending = Schema<'PendingRequest'>

const REQUEST_ARGUMENT = 'id of the request, the beginning of it, or @last'
/** A record, so that the compiler tells of a code that is missing. */
const CODES: Record<NonNullable<Pending['waiting_for']>, true> = {
  start_time: true,
  approval: true,
  window: true,
  promotion: true,
  freeze: true,
  instance_pool: true,
  no_compatible_instance: true,
  tenant_limit: true,
  target_lock: true,
  capacity: true,
}
const STATUSES = ['pending', 'processing', 'dispatched', 'cancelled', 'failed'] as const

export function addPending(program: Command): void {
  const pending = addNoun(program, 'pending', 'pending requests, which wait in the queue', {
    create: 'use `slipway deploy SOURCE`',
    edit: 'use `slipway pending reprioritize ID --priority N`',
    delete: 'use `slipway pending cancel ID`',
  })
  const listing = pending
    .command('list', LIST)
    .description('list pending requests in the order of their start')
    .addOption(new Option('--status <status>', 'list requests with this status instead').choices(STATUSES))
    .addOption(
      new Option('--waiting-for <code>', 'only those that wait for this first of all').choices(Object.keys(CODES)),
    )
    .option('--for-me', 'only those that you may approve')
    .option('--tenant <name>', 'only those of this tenant, by name or id')
  addListAction(listing, list)
  pending
    .command('show')
    .argument('<request>', REQUEST_ARGUMENT)
    .description('show all fields of one request')
    .action(provideContext(explainWaiting))
  pending
    .command('why')
    .argument('<request>', REQUEST_ARGUMENT)
    .description('show why a request is pending')
    .action(provideContext(explainWaiting))
  pending
    .command('reprioritize')
    .argument('<request>', REQUEST_ARGUMENT)
    .requiredOption('--priority <number>', '-100 to 100, higher is more urgent', parseIntegerBetween(-100, 100))
    .description('change the priority of a pending request')
    .action(
      provideContext(async (context, reference: string, { priority }: { priority: number }) => {
        const { client, output } = context
        const id = await resolveRequestId(context, reference)
        const request = await client.call('updatePending', { params: { id }, body: { priority } })
        const position = request.position === undefined ? '' : `, position ${request.position}`
        output.printRecord(request, () => [`request ${id} has priority ${request.priority}${position}`])
      }),
    )
  pending
    .command('cancel')
    .argument('<request>', REQUEST_ARGUMENT)
    .description('cancel a pending request')
    .action(
      provideContext(async (context, reference: string) =>
        cancelPending(context, await resolveRequestId(context, reference)),
      ),
    )
}

const formatSource = ({ source_name, source_version }: Pending) => `${source_name} ${source_version}`

const formatTargets = ({ targets, target_count }: Pending, most: number) =>
  formatNames(
    targets.map(({ name }) => name),
    target_count,
    most,
  )

const formatPlace = ({ tenant_name, environment_name }: Pending) =>
  [tenant_name, environment_name].filter((name) => name).join(', ') || undefined

/** Programs get times in one form from every command. */
const withIsoTimes = (request: Pending): Pending =>
  JSON.parse(JSON.stringify(request), (_, value) => (typeof value === 'string' ? toIsoTime(value) : value))

function formatPool({ instance_pool: pool }: Pending): [string, string][] {
  if (pool === undefined) return []
  const { name, position, known, matching, accepting, slots, taken } = pool
  const instances = `${matching} of ${known} match, ${accepting} of them take runs (${taken} of ${slots} slots taken)`
  return [
    ['pool', `${sanitize(name)}, position ${position}`],
    ['instances', instances],
  ]
}

/** The first blocker is what the request waits for. The sentence of a freeze tells its end. */
const formatOtherBlockers = ({ blockers = [] }: Pending): [string, string][] =>
  blockers.slice(1).map(({ code, message, until }) => {
    const end = until === null || code === 'freeze' ? '' : `, until about ${formatTime(until)}`
    return ['and for', sanitize(`${localizeTimes(message)}${end}`)]
  })

const heldTargets = ({ blockers = [] }: Pending) => blockers.flatMap(({ details }) => details.held_targets ?? [])

interface ListOptions {
  status?: Pending['status']
  waitingFor?: NonNullable<Pending['waiting_for']>
  tenant?: string
  forMe?: boolean
}

async function list({ client, output }: Context, { status, waitingFor, tenant, forMe }: ListOptions): Promise<void> {
  const query = {
    ...(status === undefined ? {} : { status }),
    ...(waitingFor === undefined ? {} : { waiting_for: waitingFor }),
    ...(tenant === undefined ? {} : { tenant_id: await findId(client, 'tenant', tenant) }),
  }
  const requests = await client.call('listPending', { query })
  output.printList(
    requests.filter(({ can_approve }) => !forMe || can_approve === true).map(withIsoTimes),
    [
      ['POSITION', ({ position }) => position],
      ['ID', ({ id }) => id],
      ['STATUS', (one) => one.status],
      ['PRIORITY', ({ priority }) => priority],
      ['SOURCE', formatSource],
      ['ENVIRONMENT', formatPlace],
      ['TARGETS', (request) => formatTargets(request, 3)],
      ['QUEUED', ({ queued_at }) => showTime(queued_at)],
      ['BY', ({ triggered_by }) => triggered_by],
      ['WHY', (one) => (one.status === 'pending' ? getWaitingReason(one) : (one.error_message ?? one.deployment_id))],
    ],
    'no pending requests',
    { hasOptionalFields: true },
  )
}

export async function cancelPending({ client, output }: Context, id: string): Promise<void> {
  await client.call('cancelPending', { params: { id } })
  output.printRecord({ id, status: 'cancelled' }, () => [`request ${id} was cancelled`])
}

async function explainWaiting(context: Context, reference: string): Promise<void> {
  await printPending(context, await readPending(context.client, await resolveRequestId(context, reference)))
}

export async function printPending({ output }: Context, pending: Pending): Promise<void> {
  const request = withIsoTimes(pending)
  output.printRecord(request, () =>
    formatFacts([
      ['request', request.id],
      ['source', sanitize(formatSource(request) ?? '')],
      ['environment', sanitize(formatPlace(request) ?? '')],
      ['targets', formatTargets(request, 6)],
      ['status', request.status],
      ['position', request.position],
      ['priority', request.priority],
      ['waits for', request.status === 'pending' ? getWaitingReason(request) : undefined],
      ...formatOtherBlockers(request),
      ...formatPool(request),
      ...(request.approvals === undefined
        ? []
        : formatApprovals(request).map((line): [string, string] => ['approvals', sanitize(line)])),
      ['starts at', request.start_at && formatTime(request.start_at)],
      ['expires', request.expires_at && formatTime(request.expires_at)],
      ...heldTargets(request).map(({ target_name, deployment_id, since }): [string, string] => [
        'held target',
        sanitize(`${target_name}, by ${deployment_id ?? 'another tenant'} since ${formatTime(since)}`),
      ]),
      ['queued', request.queued_at && formatTime(request.queued_at)],
      ['retries', request.retry_count],
      ['last retry', request.last_retry_at && formatTime(request.last_retry_at)],
      ['earliest start', request.earliest_start ? formatTime(request.earliest_start) : undefined],
      ['estimated start', request.estimated_start && formatTime(request.estimated_start)],
      ['deployment', request.deployment_id],
      ['superseded by', request.superseded_by],
      ['plan', request.plan_hash],
      ['error', request.error_message],
    ]),
  )
}
