import { Type } from '@sinclair/typebox'
import { PERMISSIONS, SourceType } from '@slipway/domain'
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
  Timestamp,
  Uuid,
} from '../schema.ts'
import { MOMENTS, STORY } from '../story.ts'

export const USER_KINDS = ['person', 'service'] as const

/** Who the user is at a provider of identities. */
export const Identity = Strict({
  provider: Text('Id of the provider', 'company'),
  subject: Text('The claim `sub` of the user at the provider', '248289761001'),
})

const scopeOf = (limited: string) => ({
  environment_ids: describe(Nullable(Type.Array(Uuid)), `${limited} only in these environments; null: in all`, [
    STORY.environment,
  ]),
  solution_ids: describe(
    Nullable(Type.Array(Uuid)),
    `${limited} only for these solutions; null: for every source`,
    null,
  ),
})

/** A role in a scope. */
export const RoleBinding = Strict({
  role: Text('Name of the role', 'deployer'),
  ...scopeOf('The role lets the user act'),
})

export const User = Strict({
  id: Ref('user', 'UUID of the user'),
  kind: describe(
    literals(USER_KINDS),
    '`service`: an account of a pipeline, without e-mail, password and login',
    'person',
  ),
  email: NullableText('E-mail address, with which the user logs in; null for a service account', 'ada@example.com'),
  username: Text('Unique name, shown wherever the user did something', 'ada'),
  display_name: NullableText('Full name for people', 'Ada Lovelace'),
  status: Text('`active`, `inactive` or `suspended`. Only active users can do anything', 'active'),
  roles: describe(Type.Array(Type.String()), 'Names of the roles without a scope', ['operator']),
  role_bindings: describe(
    Type.Array(RoleBinding),
    'The roles with a scope. Each gives all its permissions to read, and within its scope those to deploy, cancel and approve, and ' +
      'to change freezes and targets',
  ),
  permissions: describe(
    Type.Array(Type.String()),
    'The permissions that the user has without a scope. GET /auth/can tells the others',
    ['deployments:create', 'deployments:read'],
  ),
  identity: describe(
    Nullable(Identity),
    'Who the user is at the provider with which the user logs in; null: the user logs in with a password, or never',
    null,
  ),
  created_at: Moment('When the user was created', MOMENTS.made),
})

export const CurrentUser = Strict({
  ...User.properties,
  tenant_id: NullableRef('tenant', 'The tenant that the user belongs to; null: none, the user sees all tenants', null),
  email_verified: Flag('Whether the e-mail address belongs to the user'),
  two_factor_enabled: Flag('Whether a login needs a second factor'),
  last_login_at: NullableMoment('When the user last logged in; null: never'),
  api_key_id: NullableRef('apiKey', 'The API key of this call; null: it is authenticated by a session'),
  api_key_name: NullableText('Name of that key', 'pipeline of the storefront'),
})

const password = (description: string) =>
  describe(Type.String({ minLength: 1, maxLength: 1_024 }), description, 'correct horse battery staple')

export const LoginRequest = Strict({
  email: describe(
    Type.String({ minLength: 1, maxLength: 320 }),
    'E-mail address of the user, in upper or lower case',
    'ada@example.com',
  ),
  password: password('Password of the user'),
})

const accessToken = Text('Send it as `Authorization: Bearer …`', 'eyJhbGciOiJIUzI1NiJ9…')

export const LoginResponse = Strict({
  access_token: accessToken,
  token_type: describe(Type.Literal('Bearer'), 'How the token is sent', 'Bearer'),
  expires_in: Count('Seconds for which the access token is valid', 3_600),
  user: describe(User, 'The user who logged in'),
})

/** The answer to a right password of a user with a second factor. */
export const TwoFactorRequired = Strict({
  requires_2fa: describe(Type.Literal(true), 'The login is not complete: a second factor is needed', true),
  pending_token: Text('Send it with the code to POST /api/v1/auth/2fa/verify', 'eyJhbGciOiJIUzI1NiJ9…'),
})

export const LoginAnswer = Type.Union([LoginResponse, TwoFactorRequired])

const Code = describe(
  Type.String({ minLength: 1, maxLength: 64 }),
  'Six digits of the authenticator, or an unused recovery code',
  '123456',
)

export const VerifyTwoFactor = Strict({
  code: Code,
  pending_token: describe(
    Type.String({ minLength: 1, maxLength: 4_096 }),
    'The token of the login that waits for the second factor',
    'eyJhbGciOiJIUzI1NiJ9…',
  ),
})

export const TwoFactorSetup = Strict({
  secret: Text('The secret for the authenticator, in base32', 'JBSWY3DPEHPK3PXP'),
  otpauth_url: Text(
    'The same as a URL, for a QR code',
    'otpauth://totp/Slipway:ada%40example.com?secret=JBSWY3DPEHPK3PXP&issuer=Slipway',
  ),
})
export const TwoFactorCode = Strict({ code: Code })
export const TwoFactorEnabled = Strict({
  message: Text('What was done, for people', 'Two-factor authentication is enabled'),
  recovery_codes: describe(
    Type.Array(Type.String()),
    'Each replaces a code once, for a login without the authenticator. They are not shown again',
    ['k7mq-2xwd-9rtn'],
  ),
})

/** Length in characters, not in bytes. */
export const NewPassword = describe(
  Type.String({ minLength: 12, maxLength: 128 }),
  'The new password, 12 to 128 characters',
  'correct horse battery staple',
)

export const ChangePassword = Strict({
  current_password: password('The present password'),
  new_password: NewPassword,
})

const keyFields = {
  name: 'pipeline of the storefront',
  about: 'Deploys what is merged',
}

export const ApiKey = Strict({
  id: Ref('apiKey', 'UUID of the key'),
  name: Text('Name, for people', keyFields.name),
  description: NullableText('Free text for people', keyFields.about),
  key_prefix: Text('The first characters of the key, by which people recognise it', 'svc_2hT9cQw7…'),
  scopes: describe(
    Type.Array(Type.String()),
    'The permissions of the key; an empty list: all permissions of its user. It never has more than its user',
    ['deployments:create', 'deployments:read'],
  ),
  ...scopeOf('The key acts'),
  last_used_at: NullableMoment('When the key was last used, to within a minute; null: never'),
  last_used_ip: NullableText('The client address of that call; null: none', '203.0.113.7'),
  created_at: Moment('When the key was created', MOMENTS.made),
  expires_at: NullableMoment('The key is void from this moment on; null: it does not expire', null),
})

const givenScope = (limited: string) => ({
  environment_ids: Type.Optional(
    describe(
      Nullable(Type.Array(Id('environment'), { minItems: 1, maxItems: 1_000, uniqueItems: true })),
      `${limited} only in these environments; in all when omitted or null`,
      [STORY.environment],
    ),
  ),
  solution_ids: Type.Optional(
    describe(
      Nullable(Type.Array(Id('solution'), { minItems: 1, maxItems: 1_000, uniqueItems: true })),
      `${limited} only for these solutions; for every source when omitted or null`,
      [STORY.solution],
    ),
  ),
})

/** A role in a scope, by the name of the role. Without environments and solutions it is a plain role. */
export const GivenRoleBinding = Strict({
  role: describe(Type.String({ minLength: 1, maxLength: 255 }), 'Name of the role', 'deployer'),
  ...givenScope('The role lets the user act'),
})

export const CreateApiKey = Strict({
  name: describe(Name, Name.description ?? '', keyFields.name),
  description: Type.Optional(
    describe(Nullable(Description), 'Free text for people, at most 10,000 characters', keyFields.about),
  ),
  expires_in_days: Type.Optional(
    describe(Type.Integer({ minimum: 1, maximum: 3_650 }), 'Days from now; without it the key does not expire', 90),
  ),
  scopes: Type.Optional(
    describe(
      Type.Array(literals(PERMISSIONS), { maxItems: 100 }),
      'The permissions of the key. When omitted or empty, all that its user may do, now and after later changes of roles',
      ['deployments:create', 'deployments:read'],
    ),
  ),
  ...givenScope('The key reads what its user reads, and deploys, cancels, approves and changes freezes and targets'),
})

export const AskedRight = Strict({
  permission: describe(literals(PERMISSIONS), 'The permission in question', 'deployments:create'),
  environment_id: Type.Optional(Id('environment', 'In this environment; in any when omitted')),
  source_type: Type.Optional(describe(SourceType, 'Kind of the source', 'solution')),
  source_id: Type.Optional(
    describe(Type.String({ minLength: 1, maxLength: 64 }), 'For this source, by UUID or SqId', STORY.solution),
  ),
})

export const Right = Strict({
  allowed: Flag('Whether the caller may do it'),
  because: Text('Why, for people', 'Your role "deployer" gives deployments:create in its scope'),
})

/** A login that has not ended. */
export const Session = Strict({
  id: Ref('session', 'UUID of the session'),
  is_current: Flag('Whether this call is made in it'),
  created_at: Moment('When the login was', MOMENTS.made),
  last_used_at: describe(Nullable(Timestamp), 'Of the login or the last refresh', MOMENTS.created),
  expires_at: Moment('The session ends then unless it is refreshed before', MOMENTS.later),
  client_ip: NullableText('The client address of the login; null: not known', '203.0.113.7'),
  user_agent: NullableText('What the client calls itself', 'Mozilla/5.0'),
})

export const Sessions = Strict({ sessions: describe(Type.Array(Session), 'The sessions, the last used first') })

export const CreatedApiKey = Strict({
  api_key: describe(ApiKey, 'The new key, as lists show it'),
  full_key: Text('The key. Send it as `Authorization: Bearer …`. It is not shown again', 'svc_2hT9cQw7…'),
  warning: Text('A reminder for people', 'Store this key now: it is not shown again'),
})
export const ApiKeys = Strict({ api_keys: describe(Type.Array(ApiKey), 'The keys, the newest first') })

/** For calls without body. They accept an empty object, too. */
export const NoBody = Strict({})

export const SseTokenRequest = Strict({})

const streamRefresh = 'Gets the next tokens of this stream session. It can be used once'

export const SseTokenResponse = Strict({
  sse_token: Text('Opens one stream, as the parameter `sse_token`', 'Vb3kq9vZ0aT2m7Hc1yQxL0pRw'),
  expires_in: Count('Seconds in which the token can be used', 60),
  session_id: Ref('session', 'The stream session, for POST /api/v1/auth/sse-token/refresh'),
  refresh_token: Text(streamRefresh, 'Rt7Hc1yQxL0pRw3kq9vZ0aT2m'),
})

export const RefreshSseToken = Strict({
  session_id: describe(Ref('session'), 'The stream session, from the answer with the last token', STORY.session),
  refresh_token: describe(
    Type.String({ minLength: 1, maxLength: 512 }),
    'The refresh token of the last answer',
    'Rt7Hc1yQxL0pRw3kq9vZ0aT2m',
  ),
})
