import type { Input, Schema } from '@slipway/client'
import type { Command } from 'commander'
import { UsageError } from '../exit-code.ts'
import { readFirstLineOfStdin } from '../terminal/prompt.ts'
import { showTime } from '../terminal/table.ts'
import { provideContext } from './context.ts'
import { chooseEntry } from './entries.ts'
import { nameFields } from './field-names.ts'
import { take } from './lists.ts'
import { addRecordCommands, type Editing } from './record-commands.ts'
import {
  addReference,
  addSetOption,
  addYesNo,
  findReference,
  isYes,
  mergeSet,
  requireOption,
  type YesNo,
} from './record-options.ts'
import { findId, UUID } from './records.ts'
import { omitUndefined, parseIntegerBetween } from './values.ts'
import { addListAction } from './watching.ts'

type Fields = Input<'updateWebhook'>['body']
type Event = Schema<'Webhook'>['events'][number]

interface WebhookOptions {
  newUrl?: string
  event?: string[]
  removeEvent?: string[]
  secretStdin?: true
  enabled?: YesNo
  tenant?: string
}

const WEBHOOK: Editing<'webhook', WebhookOptions, Fields> = {
  kind: 'webhook',
  argument: ['url', 'where deliveries go, by POST'],
  about: { create: 'the secret that signs its deliveries is shown once', edit: 'its tenant cannot change' },
  addOptions(command, verb) {
    if (verb === 'edit') nameFields(command, { url: '--new-url' })
    if (verb === 'edit') command.option('--new-url <url>', 'where deliveries go from now on')
    addSetOption(command, verb, '--event <event>', 'an event that it gets, such as deployment.finished', String)
    if (verb === 'create') requireOption(command, '--event')
    command.option('--secret-stdin', 'read the secret from stdin: whsec_ and the base64 of 24 to 64 bytes')
    addYesNo(command, '--enabled', 'whether it gets events')
    return verb === 'edit' ? command : addReference(command, verb, 'tenant', 'only events of this tenant')
  },
  build: async ({ io }, { newUrl, event, removeEvent, secretStdin, enabled }, record) =>
    omitUndefined<Fields>({
      url: newUrl,
      // The server checks the names of events.
      events: mergeSet('event', record?.events ?? [], event, removeEvent) as Event[] | undefined,
      secret: secretStdin && (await readFirstLineOfStdin(io)),
      enabled: isYes(enabled),
      expected_updated_at: record?.updated_at,
    }),
  async create(context, url, { events, ...fields }, { tenant }) {
    const { io, client, output } = context
    if (events === undefined)
      throw new UsageError('a webhook needs events: give --event deployment.finished, or others')
    const tenant_id = await findReference(context, 'tenant', tenant)
    const webhook = await client.call('createWebhook', {
      body: { ...omitUndefined({ tenant_id }), ...fields, url, events },
    })
    // Otherwise the secret is lost.
    if (webhook.secret !== undefined && (output.isForPeople || output.format === 'name'))
      io.stderr.write(`its deliveries are signed with the secret ${webhook.secret}, which is not shown again\n`)
    return webhook
  },
  update: ({ client }, id, body) => client.call('updateWebhook', { params: { id }, body }),
}

export function addWebhooks(program: Command): void {
  const webhooks = addRecordCommands(program, 'webhooks', 'webhooks, which tell other systems of events', WEBHOOK)
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
        ['CREATED', ({ created_at }) => showTime(created_at)],
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
        const delivery_id = UUID.test(given)
          ? given
          : (await chooseEntry('delivery', await list(), given, 'deliveries')).id
        const delivery = await client.call('redeliverWebhook', { params: { id, delivery_id } })
        output.printRecord(delivery ?? { id: delivery_id }, () => [`delivery ${delivery_id} is sent again`])
      }),
    )
}
