import { Type } from '@sinclair/typebox'
import { describe, literals, Strict } from '../../schema.ts'
import { Page, PageQuery, sortBy } from '../common.ts'
import * as webhooks from '../webhooks.ts'
import { listQueryWith, op, recordOperations } from './operation.ts'

const tag = 'webhooks'

const records = recordOperations({
  kind: 'webhook',
  resource: tag,
  record: webhooks.Webhook,
  created: webhooks.CreatedWebhook,
  create: webhooks.CreateWebhook,
  update: webhooks.ChangeWebhook,
  query: Strict({
    ...listQueryWith('Only webhooks with this text in their URL, in upper or lower case', 'hooks.example.com')
      .properties,
    ...sortBy('-created_at', ['url', 'created_at']),
  }),
  summaries: { delete: 'Delete a webhook with its deliveries' },
  about: {
    list: 'Lists the webhooks that the caller may see, newest first, never their secrets.',
    create:
      'Registers a URL that gets events by POST, signed after Standard Webhooks. The caller needs the permission to read what the events contain (403). 400: the URL leads to an address that is not public. 409: the tenant has 100 webhooks.',
    get: 'Shows one webhook, never its secret.',
    update:
      'Changes the fields that are sent. The caller needs the permission to read what the events contain (403). A new secret signs from the next attempt on. While a webhook is disabled, it gets no new events and waiting deliveries are not attempted. `enabled: true` also enables a webhook that Slipway has disabled.',
    delete: 'Removes the webhook and its deliveries. Attempts that are due are not made.',
  },
})

export const webhookOperations = {
  listWebhooks: records.list,
  createWebhook: records.create,
  getWebhook: records.get,
  updateWebhook: records.update,
  deleteWebhook: records.delete,
  listWebhookDeliveries: op({
    method: 'GET',
    path: '/webhooks/{id}/deliveries',
    summary: 'List the deliveries of the last days, newest first',
    description:
      'Lists what was sent or will be sent, newest first: attempts, the last answer, and when the next attempt is due. Ended deliveries are kept for 7 days.',
    tag,
    access: 'webhooks:read',
    query: Strict({
      ...PageQuery,
      status: Type.Optional(
        describe(literals(webhooks.WEBHOOK_DELIVERY_STATUSES), 'Only deliveries with this status', 'failed'),
      ),
    }),
    responses: { 200: Page(webhooks.WebhookDelivery) },
  }),
  redeliverWebhook: op({
    method: 'POST',
    path: '/webhooks/{id}/deliveries/{delivery_id}/redeliver',
    audit: 'webhook.redeliver',
    summary: 'Repeat a delivery with the same id, at once and, if that fails, for another 24 hours',
    description:
      'Sends a delivery again, with the same id and body: at once and, if that fails, for another 24 hours. 202: the attempt follows; listWebhookDeliveries shows its result. 409: the webhook is disabled, or an attempt is in progress. The caller needs the permission to read what the events of the webhook contain (403).',
    tag,
    access: 'webhooks:update',
    responses: { 202: webhooks.WebhookDelivery },
  }),
} as const
