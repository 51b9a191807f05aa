import { Type } from '@sinclair/typebox'
import { literals, Strict } from '../../schema.ts'
import { Page, PageQuery } from '../common.ts'
import * as webhooks from '../webhooks.ts'
import { list, op } from './operation.ts'

const tag = 'webhooks'

export const webhookOperations = {
  listWebhooks: list({ path: '/webhooks', summary: 'List webhooks', tag, access: 'webhooks:read' }, webhooks.Webhook),
  createWebhook: op({
    method: 'POST',
    path: '/webhooks',
    audit: 'webhook.create',
    summary: 'Create a webhook',
    tag,
    access: 'webhooks:create',
    body: webhooks.CreateWebhook,
    responses: { 201: webhooks.CreatedWebhook },
  }),
  getWebhook: op({
    method: 'GET',
    path: '/webhooks/{id}',
    summary: 'Read a webhook',
    tag,
    access: 'webhooks:read',
    responses: { 200: webhooks.Webhook },
  }),
  updateWebhook: op({
    method: 'PATCH',
    path: '/webhooks/{id}',
    audit: 'webhook.update',
    summary: 'Change a webhook',
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
    tag,
    access: 'webhooks:delete',
    responses: { 204: null },
  }),
  listWebhookDeliveries: op({
    method: 'GET',
    path: '/webhooks/{id}/deliveries',
    summary: 'List the deliveries of the last days, newest first',
    tag,
    access: 'webhooks:read',
    query: Strict({ ...PageQuery, status: Type.Optional(literals(webhooks.WEBHOOK_DELIVERY_STATUSES)) }),
    responses: { 200: Page(webhooks.WebhookDelivery) },
  }),
  redeliverWebhook: op({
    method: 'POST',
    path: '/webhooks/{id}/deliveries/{delivery_id}/redeliver',
    audit: 'webhook.redeliver',
    summary: 'Repeat a delivery with the same id, at once and, if that fails, for another 24 hours',
    tag,
    access: 'webhooks:update',
    responses: { 202: webhooks.WebhookDelivery },
  }),
} as const
