import { Type } from '@sinclair/typebox'
import type { Permission } from '@slipway/domain'
import {
  Count,
  describe,
  Flag,
  Id,
  literals,
  Moment,
  Nullable,
  NullableMoment,
  NullableRef,
  NullableText,
  Ref,
  Strict,
  Text,
  withOptions,
} from '../schema.ts'
import { MOMENTS, STORY } from '../story.ts'
import { expectedUpdate } from './records.ts'

/** Webhook events, each with the permission that the API needs for the same data. */
export const WEBHOOK_EVENTS = {
  'deployment.queued': 'deployments:read',
  'deployment.started': 'deployments:read',
  'deployment.updated': 'deployments:read',
  'deployment.finished': 'deployments:read',
  'deployment.approval_needed': 'deployments:read',
  'deployment.approved': 'deployments:read',
  'deployment.rejected': 'deployments:read',
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
const Secret = describe(
  Type.String({ pattern: SECRET, minLength: 'whsec_'.length + 32, maxLength: 'whsec_'.length + 88 }),
  'Signs deliveries after Standard Webhooks: `whsec_` and the base64 of 24 to 64 bytes',
  'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
)

const EXAMPLE_URL = 'https://hooks.example.com/slipway'
const exampleEvents: WebhookEvent[] = ['deployment.finished']

export const Webhook = Strict({
  id: Ref('webhook', 'UUID of the webhook'),
  tenant_id: NullableRef('tenant', 'The webhook gets the events of this tenant; null: of all', null),
  url: Text('Where Slipway sends deliveries, by POST', EXAMPLE_URL),
  events: describe(Type.Array(literals(WEBHOOK_EVENT_NAMES)), 'The events that it gets', exampleEvents),
  enabled: Flag('Whether it gets events'),
  disabled_reason: NullableText('Why Slipway disabled the webhook; null: it did not', null),
  created_at: Moment('When the webhook was created', MOMENTS.made),
  updated_at: Moment('When the webhook was last changed', MOMENTS.made),
})

export const CreatedWebhook = Strict({
  ...Webhook.properties,
  secret: Type.Optional(
    describe(Secret, 'The generated secret. It is not shown again', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'),
  ),
})

const fields = {
  url: describe(
    Type.String({ minLength: 1, maxLength: 2_048 }),
    'http or https, without user name and password, with a public address',
    EXAMPLE_URL,
  ),
  events: describe(
    Type.Array(literals(WEBHOOK_EVENT_NAMES), { minItems: 1, maxItems: 100, uniqueItems: true }),
    'Each needs the permission to read its data. `deployment.queued` and `pending.*` contain the list item of the pending ' +
      'request. `deployment.updated`: a rollback began, or another instance took over. ' +
      '`release.restored`: a check found the target in sync again, or another deployment was applied. ' +
      '`*.deleted` contain only the id.',
    exampleEvents,
  ),
  secret: Type.Optional(withOptions(Secret, { writeOnly: true })),
  enabled: Type.Optional(Flag('Whether it gets events; true when omitted')),
}

export const CreateWebhook = Strict(
  {
    ...fields,
    tenant_id: Type.Optional(
      describe(
        Nullable(Id('tenant')),
        'The webhook gets the events of this tenant; without tenant, which only a user without tenant may choose, all',
        STORY.tenant,
      ),
    ),
  },
  { description: 'Without `secret`, Slipway generates one and shows it only in this answer.' },
)

export const ChangeWebhook = Type.Partial(Strict({ ...fields, ...expectedUpdate }), {
  additionalProperties: false,
  description:
    'The tenant of a webhook cannot change, because its deliveries contain data of the tenant. A new secret signs from the next attempt on.',
})

export const WEBHOOK_DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const

export const WebhookDelivery = Strict({
  id: Ref('delivery', 'UUID of the delivery: the `webhook-id` of every attempt'),
  webhook_id: Ref('webhook', 'The webhook, by UUID'),
  event: describe(literals(WEBHOOK_EVENT_NAMES), 'What happened', 'deployment.finished'),
  status: describe(
    literals(WEBHOOK_DELIVERY_STATUSES),
    'pending: another attempt follows; delivered: the receiver answered 2xx; failed: there are no more attempts',
    'delivered',
  ),
  attempts: Count('How many attempts there were', 1),
  created_at: Moment('When the event was recorded', MOMENTS.ended),
  last_attempt_at: NullableMoment('When the last attempt was; null: none yet', MOMENTS.ended),
  next_attempt_at: NullableMoment('When the next attempt is due; null if there will be none', null),
  delivered_at: NullableMoment('When the receiver accepted it; null: it has not', MOMENTS.ended),
  response_status: describe(Nullable(Type.Integer()), 'HTTP status of the last answer; null: there was none', 204),
  response_body: NullableText('The first 1,024 characters of the last answer', ''),
  error: NullableText('Why the last attempt failed; null: it did not', null),
  payload: Text(
    'The first 1,024 characters of the body',
    '{"type":"deployment.finished","timestamp":"2026-03-14T09:00:43.000Z",…',
  ),
})
