import { Type } from '@sinclair/typebox'
import { Description, literals, Name, Nullable, Strict, Timestamp, Uuid, withOptions } from '../schema.ts'
import { PERMISSIONS } from './permissions.ts'

export const User = Strict({
  id: Uuid,
  email: Type.String(),
  username: Type.String(),
  display_name: Nullable(Type.String()),
  status: Type.String(),
  roles: Type.Array(Type.String()),
  permissions: Type.Array(Type.String()),
  created_at: Timestamp,
})

export const CurrentUser = Strict({
  ...User.properties,
  tenant_id: Nullable(Uuid),
  email_verified: Type.Boolean(),
  two_factor_enabled: Type.Boolean(),
  last_login_at: Nullable(Timestamp),
})

export const LoginRequest = Strict({
  email: Type.String({ minLength: 1, maxLength: 320 }),
  password: Type.String({ minLength: 1, maxLength: 1_024 }),
})

export const LoginResponse = Strict({
  access_token: Type.String(),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer(),
  user: User,
})

/** The answer to a right password of a user with a second factor. */
export const TwoFactorRequired = Strict({
  requires_2fa: Type.Literal(true),
  pending_token: Type.String(),
})

export const LoginAnswer = Type.Union([LoginResponse, TwoFactorRequired])

const Code = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'Six digits of the authenticator, or an unused recovery code',
})

export const VerifyTwoFactor = Strict({
  code: Code,
  pending_token: Type.String({ minLength: 1, maxLength: 4_096 }),
})

export const TwoFactorSetup = Strict({ secret: Type.String(), otpauth_url: Type.String() })
export const TwoFactorCode = Strict({ code: Code })
export const TwoFactorEnabled = Strict({ message: Type.String(), recovery_codes: Type.Array(Type.String()) })

/** Length in characters, not in bytes. */
export const NewPassword = Type.String({ minLength: 12, maxLength: 128 })

export const ChangePassword = Strict({
  current_password: Type.String({ minLength: 1, maxLength: 1_024 }),
  new_password: NewPassword,
})

export const ApiKey = Strict({
  id: Uuid,
  name: Type.String(),
  description: Nullable(Type.String()),
  key_prefix: Type.String(),
  scopes: Type.Array(Type.String()),
  last_used_at: Nullable(Timestamp),
  last_used_ip: Nullable(Type.String()),
  created_at: Timestamp,
  expires_at: Nullable(Timestamp),
})

export const CreateApiKey = Strict({
  name: Name,
  description: Type.Optional(Nullable(Description)),
  expires_in_days: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 3_650, description: 'Without it the key does not expire' }),
  ),
  scopes: Type.Optional(
    Type.Array(literals(PERMISSIONS), {
      maxItems: 100,
      description: 'The permissions of the key; none: all permissions of its user',
    }),
  ),
})

/** A login that has not ended. */
export const Session = Strict({
  id: Uuid,
  is_current: Type.Boolean({ description: 'Whether this call is made in it' }),
  created_at: Timestamp,
  last_used_at: Nullable(withOptions(Timestamp, { description: 'Of the login or the last refresh' })),
  expires_at: Timestamp,
  client_ip: Nullable(Type.String()),
  user_agent: Nullable(Type.String({ description: 'What the client calls itself' })),
})

export const Sessions = Strict({ sessions: Type.Array(Session) })

export const CreatedApiKey = Strict({ api_key: ApiKey, full_key: Type.String(), warning: Type.String() })
export const ApiKeys = Strict({ api_keys: Type.Array(ApiKey) })

/** For calls without body. They accept an empty object, too. */
export const NoBody = Strict({})

export const SseTokenRequest = Strict({})

export const SseTokenResponse = Strict({
  sse_token: Type.String(),
  expires_in: Type.Integer(),
  session_id: Uuid,
  refresh_token: Type.String(),
})

export const RefreshSseToken = Strict({
  session_id: Uuid,
  refresh_token: Type.String({ minLength: 1, maxLength: 512 }),
})
