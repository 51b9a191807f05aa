import { Type } from '@sinclair/typebox'
import { Id, literals, Nullable, Strict, Timestamp, Uuid, withOptions } from '../schema.ts'
import type { Permission } from './permissions.ts'

/** Webhook events, each with the permission that the API needs for the same data. */
export const WEBHOOK_EVENTS = {
  'deployment.queued': 'deployments:read',
  'deployment.started': 'deployments:read',
  'deployment.updated': 'deployments:read',
  'deployment.finished': 'deployments:read',
  'release.drifted': 'deployments:read',
  'release.restored': 'deployments:read',
  'pending.updated': 'deployments:read',
  'pending.dispatched': 'deployments:read',
  'pending.cancelled': 'deployments:read',
  'pending.failed': 'deployments:read',
  'target.created': 'targets:read',
  'target.updated': 'targets:read',
  'target.deleted': 'targets:read',
  'freeze.created': 'freezes:read',
  'freeze.updated': 'freezes:read',
  'freeze.deleted': 'freezes:read',
  'instance.created': 'instances:read',
  'instance.updated': 'instances:read',
  'instance.deleted': 'instances:read',
} as const satisfies Record<string, Permission>

export type WebhookEvent = keyof typeof WEBHOOK_EVENTS
export const WEBHOOK_EVENT_NAMES = Object.keys(WEBHOOK_EVENTS) as WebhookEvent[]

/** Standard Webhooks: 24 to 64 bytes. */
const SECRET = '^whsec_([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$'
const Secret = Type.String({
  pattern: SECRET,
  minLength: 'whsec_'.length + 32,
  maxLength: 'whsec_'.length + 88,
  description: 'Signs deliveries after Standard Webhooks: `whsec_` and the base64 of 24 to 64 bytes',
})

export const Webhook = Strict({
  id: Uuid,
  tenant_id: Nullable(Uuid),
  url: Type.String(),
  events: Type.Array(literals(WEBHOOK_EVENT_NAMES)),
  enabled: Type.Boolean(),
  disabled_reason: withOptions(Nullable(Type.String()), { description: 'Why Slipway disabled the webhook' }),
  created_at: Timestamp,
  updated_at: Timestamp,
})

export const CreatedWebhook = Strict({
  ...Webhook.properties,
  secret: Type.Optional(withOptions(Secret, { description: 'The generated secret. It is not shown again' })),
})

const fields = {
  url: Type.String({
    minLength: 1,
    maxLength: 2_048,
    description: 'http or https, without user name and password, with a public address',
    examples: ['https://hooks.example.com/slipway'],
  }),
  events: Type.Array(literals(WEBHOOK_EVENT_NAMES), {
    minItems: 1,
    uniqueItems: true,
    description:
      'Each needs the permission to read its data. `deployment.queued` and `pending.*` contain the list item of the pending ' +
      'request. `deployment.updated`: a rollback began, or another instance took over. ' +
      '`release.restored`: a check found the target in sync again, or another deployment was applied. ' +
      '`*.deleted` contain only the id.',
  }),
  secret: Type.Optional(withOptions(Secret, { writeOnly: true })),
  enabled: Type.Optional(Type.Boolean()),
}

export const CreateWebhook = Strict(
  {
    ...fields,
    tenant_id: Type.Optional(
      withOptions(Nullable(Id('tenant')), {
        description:
          'The webhook gets the events of this tenant; without tenant, which only a user without tenant may choose, all',
      }),
    ),
  },
  { description: 'Without `secret`, Slipway generates one and shows it only in this answer.' },
)

export const ChangeWebhook = Type.Partial(Strict(fields), {
  additionalProperties: false,
  description:
    'The tenant of a webhook cannot change, because its deliveries contain data of the tenant. A new secret signs from the next attempt on.',
})

export const WEBHOOK_DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const

export const WebhookDelivery = Strict({
  /** The `webhook-id` of every attempt. */
  id: Uuid,
  webhook_id: Uuid,
  event: literals(WEBHOOK_EVENT_NAMES),
  status: literals(WEBHOOK_DELIVERY_STATUSES),
  attempts: Type.Integer(),
  created_at: Timestamp,
  last_attempt_at: Nullable(Timestamp),
  next_attempt_at: withOptions(Nullable(Timestamp), { description: 'Null if there will be none' }),
  delivered_at: Nullable(Timestamp),
  response_status: Nullable(Type.Integer()),
  response_body: withOptions(Nullable(Type.String()), { description: 'The first 1,024 characters of the last answer' }),
  error: withOptions(Nullable(Type.String()), { description: 'Why the last attempt failed' }),
  payload: Type.String({ description: 'The first 1,024 characters of the body' }),
})
