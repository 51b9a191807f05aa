import { Type } from '@sinclair/typebox'
import { Description, Id, literals, Name, Nullable, Strict, Timestamp, Uuid, withOptions } from '../schema.ts'
import { NewPassword, User } from './auth.ts'
import { PERMISSIONS } from './permissions.ts'

export const USER_STATUSES = ['active', 'inactive', 'suspended'] as const

export const UserRecord = Strict({ ...User.properties, tenant_id: Nullable(Uuid), email_verified: Type.Boolean() })

export const CreateUser = Strict({
  email: Type.String({ format: 'email', maxLength: 320, description: 'In upper or lower case' }),
  username: Name,
  display_name: Type.Optional(Nullable(Name)),
  password: withOptions(NewPassword, { writeOnly: true }),
  roles: Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
    maxItems: 100,
    uniqueItems: true,
    description: 'Names of roles. The caller needs all their permissions.',
  }),
  tenant_id: Type.Optional(Nullable(Id('tenant'))),
  status: Type.Optional(
    literals(USER_STATUSES, { description: 'A suspended or inactive user can do nothing. Takes effect at once' }),
  ),
  email_verified: Type.Optional(
    Type.Boolean({
      description: 'Whether the e-mail belongs to the user. A new e-mail counts as not verified unless this is true',
    }),
  ),
})

export const ChangeUser = Type.Partial(CreateUser, {
  additionalProperties: false,
  description:
    'A new password, status or tenant ends the sessions and open streams of the user. `roles` replaces all roles. ' +
    'Callers cannot suspend, move or demote themselves, nor the last active administrator without tenant (409). ' +
    'A change of roles or tenant needs every permission that the user has afterwards. Only a caller without tenant can ' +
    'remove the tenant of a user (403). To change password or e-mail, the caller needs every permission of the ' +
    'user (403). Renaming and suspending need only `users:update`.',
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
      'Labels that the instance may have: a key with the allowed value, or with null for any value. An instance with any ' +
      'other label is refused.',
  },
)

/** An orchestration instance. It joins with a grant or as a Kubernetes service account. */
export const Instance = Strict({
  id: Uuid,
  name: Type.String(),
  version: Type.String(),
  status: literals(['online', 'draining', 'offline'], {
    description: 'offline: no heartbeat for 30 seconds; draining: the instance finishes its runs and gets no new ones',
  }),
  capacity: Type.Integer({ description: 'Deployments that the instance can run at once' }),
  active: Type.Integer({ description: 'Deployments that the instance runs now' }),
  draining: Type.Boolean(),
  last_heartbeat_at: Nullable(Timestamp),
  labels: Type.Record(Type.String(), Type.String()),
  allowed_labels: AllowedLabels,
  tenant_id: withOptions(Nullable(Uuid), { description: 'The instance runs only deployments of this tenant' }),
  created_at: Timestamp,
})

export const ChangeInstance = Strict(
  {
    draining: Type.Optional(Type.Boolean()),
    labels: Type.Optional(
      withOptions(Labels, { description: 'Replaces all labels, until the instance reports other labels' }),
    ),
  },
  { description: 'Only users without tenant change instances (403).' },
)

export const RemoveInstance = Strict({
  force: Type.Optional(
    literals(['true', 'false'], {
      description:
        'Delete the instance even if it is online or runs deployments. Its credential is void at once. Other instances get ' +
        'its deployments when it counts as lost, 30 seconds after its last heartbeat',
    }),
  ),
})

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
  { description: 'Only users without tenant create grants (403).' },
)

export const InstanceGrant = Strict({
  id: Uuid,
  status: literals(['active', 'used_up', 'expired'], { description: 'Only an active grant lets an instance join' }),
  uses: Type.Integer(),
  used: Type.Integer({ description: 'How many instances have joined with the grant' }),
  labels: AllowedLabels,
  tenant_id: Nullable(Uuid),
  expires_at: Timestamp,
  created_by: Nullable(Uuid),
  created_at: Timestamp,
})

export const NewInstanceGrant = Strict({
  ...InstanceGrant.properties,
  token: Type.String({ description: 'The join token for the instance. It is not shown again.' }),
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
    description: 'The caller needs all of them',
  }),
})

export const ChangeRole = Type.Partial(CreateRole, {
  additionalProperties: false,
  description: 'Takes effect at once for all users with the role. Built-in roles cannot be changed (409).',
})
