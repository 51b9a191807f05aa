import type { Command } from 'commander'
import { formatTime } from '../terminal/table.ts'
import { provideContext } from './context.ts'
import { chooseEntry } from './entries.ts'
import { take } from './lists.ts'
import { addRecordCommands } from './record-commands.ts'
import { findId, UUID } from './records.ts'
import { parseIntegerBetween } from './values.ts'
import { addListAction } from './watching.ts'

export function addWebhooks(program: Command): void {
  const webhooks = addRecordCommands(program, 'webhooks', 'webhook', 'webhooks, which tell other systems of events')
  const deliveries = webhooks
    .command('deliveries')
    .argument('<webhook>', 'URL or id of the webhook')
    .description('list the deliveries of a webhook, newest first')
    .option('--limit <number>', 'how many to list', parseIntegerBetween(1, 100_000), 20)
  addListAction(deliveries, async ({ client, output }, urlOrId: string, { limit }: { limit: number }) => {
    const id = await findId(client, 'webhook', urlOrId)
    output.printList(
      await take(client.each('listWebhookDeliveries', { params: { id } }), limit),
      [
        ['ID', (one) => one.id],
        ['EVENT', ({ event }) => event],
        ['STATUS', ({ status }) => status],
        ['ATTEMPTS', ({ attempts }) => attempts],
        ['ANSWER', ({ response_status, error }) => response_status ?? error],
        ['CREATED', ({ created_at }) => formatTime(created_at)],
      ],
      'no deliveries',
    )
  })
  webhooks
    .command('redeliver')
    .argument('<webhook>', 'URL or id of the webhook')
    .argument('<delivery>', 'id of the delivery')
    .description('send a delivery again')
    .action(
      provideContext(async ({ client, output }, urlOrId: string, given: string) => {
        const id = await findId(client, 'webhook', urlOrId)
        const list = () => take(client.each('listWebhookDeliveries', { params: { id } }))
        const delivery_id = UUID.test(given) ? given : chooseEntry('delivery', await list(), given, 'deliveries').id
        const delivery = await client.call('redeliverWebhook', { params: { id, delivery_id } })
        output.printRecord(delivery ?? { id: delivery_id }, () => [`delivery ${delivery_id} is sent again`])
      }),
    )
}
