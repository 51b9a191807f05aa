import type { Schema } from '@slipway/client'
import { type Command, Option } from 'commander'
import { formatFacts } from '../terminal/table.ts'
import { type Context, provideContext } from './context.ts'
import { parseIntegerBetween } from './values.ts'
import { findPending, getWaitingReason } from './waiting.ts'

type Pending = Schema<'PendingRequest'>

const STATUSES = ['pending', 'processing', 'dispatched', 'cancelled', 'failed'] as const

export function addPending(program: Command): void {
  const pending = program.command('pending').description('what waits for a free instance')
  pending
    .command('list')
    .description('list waiting requests in the order in which they will start')
    .addOption(new Option('--status <status>', 'those that left the queue instead').choices(STATUSES))
    .action(provideContext(list))
  pending
    .command('why')
    .argument('<request>', 'id of the request')
    .description('say what a request waits for')
    .action(provideContext(explainWaiting))
  pending
    .command('reprioritize')
    .argument('<request>', 'id of the request')
    .requiredOption('--priority <number>', '-100 to 100, higher is more urgent', parseIntegerBetween(-100, 100))
    .description('move a waiting request in the queue')
    .action(
      provideContext(async ({ client, output }, id: string, { priority }: { priority: number }) => {
        const request = await client.call('updatePending', { params: { id }, body: { priority } })
        const place = request.position === undefined ? '' : `, place ${request.position}`
        output.printRecord(request, () => [`request ${id} has priority ${request.priority}${place}`])
      }),
    )
  pending
    .command('cancel')
    .argument('<request>', 'id of the request')
    .description('take a request out of the queue')
    .action(
      provideContext(async ({ client, output }, id: string) => {
        await client.call('cancelPending', { params: { id } })
        output.printRecord({ id, status: 'cancelled' }, () => [`request ${id} was cancelled`])
      }),
    )
}

async function list({ client, output }: Context, { status }: { status?: Pending['status'] }): Promise<void> {
  output.printList(
    await client.call('listPending', { query: status ? { status } : {} }),
    [
      ['PLACE', ({ position }) => position],
      ['ID', ({ id }) => id],
      ['STATUS', (one) => one.status],
      ['PRIORITY', ({ priority }) => priority],
      ['QUEUED', ({ queued_at }) => queued_at],
      ['BY', ({ triggered_by }) => triggered_by],
      ['WHY', (one) => (one.status === 'pending' ? getWaitingReason(one) : (one.error_message ?? one.deployment_id))],
    ],
    'nothing waits',
  )
}

async function explainWaiting({ client, output }: Context, id: string): Promise<void> {
  const request = await findPending(client, id)
  output.printRecord(request, () =>
    formatFacts([
      ['request', request.id],
      ['status', request.status],
      ['place', request.position],
      ['priority', request.priority],
      ['waits for', request.status === 'pending' ? getWaitingReason(request) : undefined],
      ['queued', request.queued_at],
      ['tried', request.retry_count],
      ['last tried', request.last_retry_at],
      ['expected start', request.estimated_start],
      ['deployment', request.deployment_id],
      ['error', request.error_message],
    ]),
  )
}
