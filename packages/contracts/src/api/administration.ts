import { Type } from '@sinclair/typebox'
import { Description, Id, literals, Name, Nullable, Strict, Timestamp, Uuid, withOptions } from '../schema.ts'
import { NewPassword, User } from './auth.ts'
import { PERMISSIONS } from './permissions.ts'

export const USER_STATUSES = ['active', 'inactive', 'suspended'] as const

/** A user as administrators see them. */
export const UserRecord = Strict({ ...User.properties, tenant_id: Nullable(Uuid), email_verified: Type.Boolean() })

export const CreateUser = Strict({
  email: Type.String({ format: 'email', maxLength: 320, description: 'Compares without regard to case' }),
  username: Name,
  display_name: Type.Optional(Nullable(Name)),
  password: withOptions(NewPassword, { writeOnly: true }),
  roles: Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
    maxItems: 100,
    uniqueItems: true,
    description: 'Names of roles. None can be granted that has a permission which the caller lacks.',
  }),
  tenant_id: Type.Optional(Nullable(Id('tenant'))),
  status: Type.Optional(
    literals(USER_STATUSES, { description: 'A user who is suspended or inactive can do nothing, from now on' }),
  ),
  email_verified: Type.Optional(
    Type.Boolean({
      description: "Whether the address is known to be the user's. A new address is not, unless this says so",
    }),
  ),
})

export const ChangeUser = Type.Partial(CreateUser, {
  additionalProperties: false,
  description:
    'A new password, status or tenant ends the sessions and open streams of the user. Roles are replaced as a whole. ' +
    'One cannot take anything from oneself, nor from the last active administrator who is bound to no tenant (409). ' +
    'A change of roles or tenant needs every permission that the user has afterwards; a user who is bound to no tenant ' +
    'afterwards needs a caller who is bound to none (403). Password and e-mail of a user who may do more than the ' +
    'caller cannot be changed (403). Renaming and suspending need only `users:update`.',
})

const Labels = Type.Record(Type.String({ pattern: '^.{1,255}$' }), Type.String({ maxLength: 255 }), {
  additionalProperties: false,
  maxProperties: 100,
})

const AllowedLabels = Type.Record(
  Type.String({ pattern: '^[^=,]{1,255}$' }),
  Type.Unsafe<string | null>({ type: ['string', 'null'], pattern: '^[^,]{0,255}$' }),
  {
    additionalProperties: false,
    maxProperties: 100,
    description:
      'Labels that the instance may claim: a key with the one value that is allowed, or with null for any value. An ' +
      'instance that claims any other label is refused.',
  },
)

/** An orchestration instance. It joins with a grant or as a Kubernetes service account. */
export const Instance = Strict({
  id: Uuid,
  name: Type.String(),
  version: Type.String(),
  status: literals(['online', 'draining', 'offline'], {
    description:
      'Offline after 30 seconds without a heartbeat; draining: what it runs goes on, it is given nothing new',
  }),
  capacity: Type.Integer({ description: 'Deployments that it runs at once' }),
  active: Type.Integer({ description: 'Deployments that it runs now' }),
  draining: Type.Boolean(),
  last_heartbeat_at: Nullable(Timestamp),
  labels: Type.Record(Type.String(), Type.String()),
  allowed_labels: AllowedLabels,
  tenant_id: withOptions(Nullable(Uuid), { description: 'It runs only deployments of this tenant' }),
  created_at: Timestamp,
})

export const ChangeInstance = Strict(
  {
    draining: Type.Optional(Type.Boolean()),
    labels: Type.Optional(withOptions(Labels, { description: 'As a whole, until the instance claims other ones' })),
  },
  { description: 'Only users who are bound to no tenant change instances (403).' },
)

export const RemoveInstance = Strict({
  force: Type.Optional(
    literals(['true', 'false'], {
      description:
        'Also when it is online or runs deployments: its credential is void at once, and other instances take its ' +
        'deployments up when it counts as lost, 30 seconds after its last heartbeat',
    }),
  ),
})

/** How many instances one grant can let join, and how long it can be valid. */
const MAX_GRANT_USES = 1_000
const MAX_GRANT_SECONDS = 7 * 24 * 3_600

export const CreateInstanceGrant = Strict(
  {
    expires_in_seconds: Type.Optional(
      Type.Integer({ minimum: 60, maximum: MAX_GRANT_SECONDS, description: 'From now on; 3600 when omitted' }),
    ),
    uses: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_GRANT_USES, description: 'How many instances can join; 1 when omitted' }),
    ),
    labels: Type.Optional(AllowedLabels),
    tenant_id: Type.Optional(
      withOptions(Nullable(Id('tenant')), {
        description: 'An instance that joins runs only deployments of this tenant',
      }),
    ),
  },
  { description: 'Only users who are bound to no tenant create grants (403).' },
)

/** A permission for orchestration instances to join. Its token is shown once. */
export const InstanceGrant = Strict({
  id: Uuid,
  status: literals(['active', 'used_up', 'expired'], { description: 'Only an active grant lets an instance join' }),
  uses: Type.Integer(),
  used: Type.Integer({ description: 'How many instances have joined with it' }),
  labels: AllowedLabels,
  tenant_id: Nullable(Uuid),
  expires_at: Timestamp,
  created_by: Nullable(Uuid),
  created_at: Timestamp,
})

export const NewInstanceGrant = Strict({
  ...InstanceGrant.properties,
  token: Type.String({ description: 'What the instance presents when it joins. It is not shown again.' }),
})

export const Role = Strict({
  id: Uuid,
  name: Type.String(),
  description: Nullable(Type.String()),
  permissions: Type.Array(Type.String()),
  built_in: Type.Boolean(),
  created_at: Timestamp,
  updated_at: Timestamp,
})

export const CreateRole = Strict({
  name: Name,
  description: Type.Optional(Nullable(Description)),
  permissions: Type.Array(literals(PERMISSIONS), {
    uniqueItems: true,
    description: 'None that the caller lacks can be given',
  }),
})

export const ChangeRole = Type.Partial(CreateRole, {
  additionalProperties: false,
  description: 'Counts at once for all who have the role. Built-in roles cannot be changed (409).',
})
