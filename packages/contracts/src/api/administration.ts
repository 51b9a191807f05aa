import { Type } from '@sinclair/typebox'
import { PERMISSIONS } from '@slipway/domain'
import {
  Count,
  Description,
  describe,
  Flag,
  Id,
  literals,
  Moment,
  Name,
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
import { GivenRoleBinding, NewPassword, USER_KINDS, User } from './auth.ts'
import { expectedUpdate } from './records.ts'

export const USER_STATUSES = ['active', 'inactive', 'suspended'] as const

export const UserRecord = Strict({
  ...User.properties,
  tenant_id: NullableRef('tenant', 'The tenant that the user belongs to; null: none, the user sees all tenants', null),
  email_verified: Flag('Whether the e-mail address belongs to the user'),
  break_glass: Flag('Whether the user may log in by password although password login is switched off', false),
})

export { PERMISSIONS }

/** A person needs `email` and `password`, a service account has neither. */
export const CreateUser = Strict({
  kind: Type.Optional(
    describe(
      literals(USER_KINDS),
      '`service`: an account of a pipeline, without e-mail, password and login; `person` when omitted. It cannot be changed',
      'person',
    ),
  ),
  email: Type.Optional(
    describe(
      Type.String({ format: 'email', maxLength: 320 }),
      'Unique e-mail address, with which the user logs in; in upper or lower case. Required unless `kind` is `service`',
      'ada@example.com',
    ),
  ),
  username: describe(Name, 'Unique name, shown wherever the user did something', 'ada'),
  display_name: Type.Optional(describe(Nullable(Name), 'Full name for people', 'Ada Lovelace')),
  password: Type.Optional(
    withOptions(NewPassword, {
      description: `${NewPassword.description}. Required unless \`kind\` is \`service\``,
      writeOnly: true,
    }),
  ),
  roles: describe(
    Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { maxItems: 100, uniqueItems: true }),
    'Names of roles. The caller needs all their permissions.',
    ['operator'],
  ),
  role_bindings: Type.Optional(
    describe(
      Type.Array(GivenRoleBinding, { maxItems: 100 }),
      'Roles that let the user act in some environments or for some solutions only. The caller needs their permissions in ' +
        'that scope or a wider one',
    ),
  ),
  tenant_id: Type.Optional(
    describe(
      Nullable(Id('tenant')),
      'The tenant that the user belongs to; null: the user sees all tenants. Users whom a caller with a tenant creates ' +
        'belong to that tenant',
      null,
    ),
  ),
  status: Type.Optional(
    describe(
      literals(USER_STATUSES),
      'A suspended or inactive user can do nothing. Takes effect at once; active when omitted',
      'active',
    ),
  ),
  email_verified: Type.Optional(
    Flag('Whether the e-mail belongs to the user. A new e-mail counts as not verified unless this is true', false),
  ),
  break_glass: Type.Optional(
    Flag(
      'Whether the user may log in by password although password login is switched off; false when omitted. Only administrators ' +
        'without tenant may change it, and only logged in as a person (403)',
      false,
    ),
  ),
})

export const ChangeUser = Type.Partial(Type.Omit(CreateUser, ['kind']), {
  additionalProperties: false,
  description:
    'A new password, another tenant, and a status other than `active` end the sessions and open streams of the user. `roles` ' +
    'replaces all roles without a scope, `role_bindings` all roles with one. ' +
    'Callers cannot suspend, move or demote themselves, nor the last active administrator without tenant (409). ' +
    'A change of roles or tenant needs every permission that the user has afterwards (403). For a caller with a tenant, ' +
    '`tenant_id` always counts as that tenant. To change password or e-mail, the caller needs every permission of the ' +
    'user (403). Renaming and suspending need only `users:update`. A service account has no e-mail and no password (409). Roles and tenant of a ' +
    'user of a login provider come from the rules of the provider, and such a user gets a password only with `break_glass` (409).',
})

const Labels = Type.Record(Type.String({ pattern: '^.{1,255}$' }), Type.String({ maxLength: 255 }), {
  additionalProperties: false,
  maxProperties: 100,
})

const exampleLabels = { zone: 'eu-west-1' }

const AllowedLabels = Type.Record(
  Type.String({ pattern: '^[^=,]{1,255}$' }),
  Type.Unsafe<string | null>({ type: ['string', 'null'], pattern: '^[^,]{0,255}$' }),
  {
    additionalProperties: false,
    maxProperties: 100,
    description:
      'Labels that the instance may have: a key with the allowed value, or with null for any value. An instance with any ' +
      'other label is refused.',
    examples: [exampleLabels],
  },
)

/** An orchestration instance. It joins with a grant or as a Kubernetes service account. */
export const Instance = Strict({
  id: Ref('instance', 'UUID of the instance'),
  name: Text('Unique name, which the instance says when it joins', 'local-1'),
  version: Text('The version of Slipway that the instance runs', '0.1.0'),
  status: describe(
    literals(['online', 'draining', 'offline']),
    'offline: no heartbeat for 30 seconds; draining: the instance finishes its runs and gets no new ones',
    'online',
  ),
  capacity: Count('Deployments that the instance can run at once', 4),
  active: Count('Deployments that the instance runs now', 1),
  draining: Flag('Whether somebody drained the instance: it finishes its runs and gets no new ones', false),
  last_heartbeat_at: NullableMoment('When the instance last called; null: never'),
  labels: describe(
    Type.Record(Type.String(), Type.String()),
    'Labels, by which instance selectors find the instance',
    exampleLabels,
  ),
  allowed_labels: AllowedLabels,
  tenant_id: NullableRef('tenant', 'The instance runs only deployments of this tenant; null: of all', null),
  created_at: Moment('When the instance joined', MOMENTS.made),
})

export const ChangeInstance = Strict(
  {
    draining: Type.Optional(Flag('true: the instance gets no new runs; false: it gets runs again')),
    labels: Type.Optional(
      describe(Labels, 'Replaces all labels, until the instance reports other labels', exampleLabels),
    ),
  },
  { description: 'Only users without tenant change instances (403).' },
)

export const RemoveInstance = Strict({
  force: Type.Optional(
    describe(
      literals(['true', 'false']),
      'Delete the instance even if it is online or runs deployments. Its credential is void at once. Other instances get ' +
        'its deployments when it counts as lost, 30 seconds after its last heartbeat',
      'true',
    ),
  ),
})

const MAX_GRANT_USES = 1_000
const MAX_GRANT_SECONDS = 7 * 24 * 3_600

export const CreateInstanceGrant = Strict(
  {
    expires_in_seconds: Type.Optional(
      describe(
        Type.Integer({ minimum: 60, maximum: MAX_GRANT_SECONDS }),
        'Seconds from now on, 60 to 604,800; 3600 when omitted',
        3_600,
      ),
    ),
    uses: Type.Optional(
      describe(Type.Integer({ minimum: 1, maximum: MAX_GRANT_USES }), 'How many instances can join; 1 when omitted', 2),
    ),
    labels: Type.Optional(AllowedLabels),
    tenant_id: Type.Optional(
      describe(Nullable(Id('tenant')), 'An instance that joins runs only deployments of this tenant', STORY.tenant),
    ),
  },
  { description: 'Only users without tenant create grants (403).' },
)

export const InstanceGrant = Strict({
  id: Ref('grant', 'UUID of the grant'),
  status: describe(literals(['active', 'used_up', 'expired']), 'Only an active grant lets an instance join', 'active'),
  uses: Count('How many instances can join with the grant', 2),
  used: Count('How many instances have joined with the grant', 1),
  labels: AllowedLabels,
  tenant_id: NullableRef('tenant', 'Instances that join run only deployments of this tenant; null: of all', null),
  expires_at: Moment('The grant lets nothing join from this moment on', MOMENTS.later),
  created_by: NullableRef(
    'user',
    'The user who created the grant; null: it was made on the command line of the server',
  ),
  created_at: Moment('When the grant was created', MOMENTS.made),
})

export const NewInstanceGrant = Strict({
  ...InstanceGrant.properties,
  token: Text(
    'The join token for the instance. It is not shown again.',
    '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a0e.Vb3kq9…',
  ),
})

const operating = ['deployments:create', 'deployments:read'] as const

export const Role = Strict({
  id: Ref('role', 'UUID of the role'),
  name: Text('Unique name', 'deployer'),
  description: NullableText('Free text for people', 'Deploys, and changes nothing else'),
  permissions: describe(Type.Array(Type.String()), 'What users with the role may do', [...operating]),
  built_in: Flag('Whether the role belongs to every installation and cannot be changed', false),
  created_at: Moment('When the role was created', MOMENTS.made),
  updated_at: Moment('When the role was last changed', MOMENTS.made),
})

export const CreateRole = Strict({
  name: describe(Name, 'Unique name of 1 to 255 characters', 'deployer'),
  description: Type.Optional(
    describe(
      Nullable(Description),
      'Free text for people, at most 10,000 characters',
      'Deploys, and changes nothing else',
    ),
  ),
  permissions: describe(
    Type.Array(literals(PERMISSIONS), { maxItems: 100, uniqueItems: true }),
    'What users with the role may do. The caller needs all of them',
    [...operating],
  ),
})

export const ChangeRole = Type.Partial(Strict({ ...CreateRole.properties, ...expectedUpdate }), {
  additionalProperties: false,
  description:
    'Takes effect at once for all users with the role. `permissions` replaces all permissions; the caller needs those that are ' +
    'added. Built-in roles cannot be changed (409).',
})
