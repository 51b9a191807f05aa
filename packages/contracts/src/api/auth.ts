import { Type } from '@sinclair/typebox'
import { Nullable, Strict, Timestamp, Uuid } from '../schema.ts'

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
  email_verified: Type.Boolean(),
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

export const SseTokenRequest = Strict({})

export const SseTokenResponse = Strict({
  sse_token: Type.String(),
  expires_in: Type.Integer(),
  session_id: Uuid,
  refresh_token: Type.String(),
})
