import { Type } from '@sinclair/typebox'
import { Id, literals, Nullable, Strict, Timestamp, Uuid, withOptions } from '../schema.ts'
import type { Permission } from './permissions.ts'

/** What a webhook can be told of, each with the permission that reading the same over the API needs. */
export const WEBHOOK_EVENTS = {
  'deployment.queued': 'deployments:read',
  'deployment.started': 'deployments:read',
  'deployment.updated': 'deployments:read',
  'deployment.finished': 'deployments:read',
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

/** Of Standard Webhooks: 24 to 64 bytes. */
const SECRET = '^whsec_([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$'
const Secret = Type.String({
  pattern: SECRET,
  minLength: 'whsec_'.length + 32,
  maxLength: 'whsec_'.length + 88,
  description: '`whsec_` and the base64 of 24 to 64 bytes, with which deliveries are signed as Standard Webhooks says',
})

export const Webhook = Strict({
  id: Uuid,
  tenant_id: Nullable(Uuid),
  url: Type.String(),
  events: Type.Array(literals(WEBHOOK_EVENT_NAMES)),
  enabled: Type.Boolean(),
  disabled_reason: withOptions(Nullable(Type.String()), { description: 'Why Slipway itself switched it off' }),
  created_at: Timestamp,
  updated_at: Timestamp,
})

export const CreatedWebhook = Strict({
  ...Webhook.properties,
  secret: Type.Optional(withOptions(Secret, { description: 'The secret that was made; it is not shown again' })),
})

const fields = {
  url: Type.String({
    minLength: 1,
    maxLength: 2_048,
    description: 'http or https, without user name and password; it must lead to a public address',
    examples: ['https://hooks.example.com/slipway'],
  }),
  events: Type.Array(literals(WEBHOOK_EVENT_NAMES), {
    minItems: 1,
    uniqueItems: true,
    description:
      'Each needs the permission to read what it tells of. `deployment.queued` and `pending.*` carry the waiting request as ' +
      'the list of those shows it; `deployment.updated`: a rollback began, or another instance took over; `*.deleted` carry ' +
      'only the id.',
  }),
  secret: Type.Optional(withOptions(Secret, { writeOnly: true })),
  enabled: Type.Optional(Type.Boolean()),
}

export const CreateWebhook = Strict(
  {
    ...fields,
    tenant_id: Type.Optional(
      withOptions(Nullable(Id('tenant')), {
        description: 'It is told what this tenant sees; without one, which needs a caller without one, everything',
      }),
    ),
  },
  { description: 'Without a secret one is made, and shown in this answer alone.' },
)

export const ChangeWebhook = Type.Partial(Strict(fields), {
  additionalProperties: false,
  description:
    'A webhook stays with its tenant, as its deliveries hold what that tenant saw. A new secret signs from the next attempt on.',
})

export const WEBHOOK_DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const

export const WebhookDelivery = Strict({
  /** Sent as `webhook-id`, the same in every attempt. */
  id: Uuid,
  webhook_id: Uuid,
  event: literals(WEBHOOK_EVENT_NAMES),
  status: literals(WEBHOOK_DELIVERY_STATUSES),
  attempts: Type.Integer(),
  created_at: Timestamp,
  last_attempt_at: Nullable(Timestamp),
  next_attempt_at: withOptions(Nullable(Timestamp), { description: 'Null when there will be none' }),
  delivered_at: Nullable(Timestamp),
  response_status: Nullable(Type.Integer()),
  response_body: withOptions(Nullable(Type.String()), { description: 'The first 1,024 characters of the last answer' }),
  error: withOptions(Nullable(Type.String()), { description: 'Why the last attempt was none that counts' }),
  payload: Type.String({ description: 'The first 1,024 characters of the body' }),
})
