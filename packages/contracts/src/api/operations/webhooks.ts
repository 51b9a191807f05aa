import { Type } from '@sinclair/typebox'
import { describe, literals, Strict } from '../../schema.ts'
import { Page, PageQuery } from '../common.ts'
import * as webhooks from '../webhooks.ts'
import { list, listQueryWith, op } from './operation.ts'

const tag = 'webhooks'

export const webhookOperations = {
  listWebhooks: list(
    {
      path: '/webhooks',
      summary: 'List webhooks',
      description: 'Lists the webhooks that the caller may see, newest first, never their secrets.',
      tag,
      access: 'webhooks:read',
    },
    webhooks.Webhook,
    listQueryWith('Only webhooks with this text in their URL, in upper or lower case', 'hooks.example.com'),
  ),
  createWebhook: op({
    method: 'POST',
    path: '/webhooks',
    audit: 'webhook.create',
    summary: 'Create a webhook',
    description:
      'Registers a URL that gets events by POST, signed after Standard Webhooks. The caller needs the permission to read what the events contain (403). 400: the URL leads to an address that is not public. 409: the tenant has 100 webhooks.',
    tag,
    access: 'webhooks:create',
    body: webhooks.CreateWebhook,
    responses: { 201: webhooks.CreatedWebhook },
  }),
  getWebhook: op({
    method: 'GET',
    path: '/webhooks/{id}',
    summary: 'Read a webhook',
    description: 'Shows one webhook, never its secret.',
    tag,
    access: 'webhooks:read',
    responses: { 200: webhooks.Webhook },
  }),
  updateWebhook: op({
    method: 'PATCH',
    path: '/webhooks/{id}',
    audit: 'webhook.update',
    summary: 'Change a webhook',
    description:
      'Changes the fields that are sent. The caller needs the permission to read what the events contain (403). A new secret signs from the next attempt on. While a webhook is disabled, it gets no new events and waiting deliveries are not attempted. `enabled: true` also enables a webhook that Slipway has disabled.',
    tag,
    access: 'webhooks:update',
    body: webhooks.ChangeWebhook,
    responses: { 200: webhooks.Webhook },
  }),
  deleteWebhook: op({
    method: 'DELETE',
    path: '/webhooks/{id}',
    audit: 'webhook.delete',
    summary: 'Delete a webhook with its deliveries',
    description: 'Removes the webhook and its deliveries. Attempts that are due are not made.',
    tag,
    access: 'webhooks:delete',
    responses: { 204: null },
  }),
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
