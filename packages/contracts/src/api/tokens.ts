import { Type } from '@sinclair/typebox'
import { Count, describe, Moment, Name, NullableRef, Ref, Strict, Text } from '../schema.ts'
import { MOMENTS } from '../story.ts'
import { User } from './auth.ts'

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const JWT = 'urn:ietf:params:oauth:token-type:jwt'
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'

export const ExchangeToken = Strict(
  {
    grant_type: describe(Type.Literal(GRANT_TYPE), 'Always this value', GRANT_TYPE),
    subject_token: describe(
      Type.String({ minLength: 1, maxLength: 12_288 }),
      'The ID token that the platform of the pipeline made for this job',
      'eyJhbGciOiJSUzI1NiJ9…',
    ),
    subject_token_type: describe(Type.Literal(JWT), 'Always this value', JWT),
    service_account: describe(
      Type.String({ minLength: 1, maxLength: 255 }),
      'User name of the service account',
      'storefront-pipeline',
    ),
  },
  { description: 'As in RFC 8693, in JSON or form-encoded' },
)

export const ExchangedToken = Strict({
  access_token: Text('Send it as `Authorization: Bearer …`', 'eyJhbGciOiJIUzI1NiJ9…'),
  issued_token_type: describe(Type.Literal(ACCESS_TOKEN), 'What the token is', ACCESS_TOKEN),
  token_type: describe(Type.Literal('Bearer'), 'How the token is sent', 'Bearer'),
  expires_in: Count('Seconds for which the access token is valid. It cannot be refreshed', 900),
  user: describe(User, 'The service account'),
})

const Claims = describe(
  Type.Record(Type.String({ pattern: '^.{1,255}$' }), Type.String({ minLength: 1, maxLength: 1_000 }), {
    additionalProperties: false,
    maxProperties: 20,
  }),
  'Claims that a token must have, with their values. A value that ends in `*` matches every text with that beginning. All ' +
    'must match; a claim that is no text never matches. Name at least one claim besides `iss` and `aud`',
  { repository: 'acme/storefront', ref: 'refs/heads/main' },
)

export const CreateTrust = Strict({
  name: describe(Name, 'Name of the trust, unique in its account', 'main branch'),
  issuer: describe(
    Type.String({ minLength: 1, maxLength: 500 }),
    'Issuer of the tokens, exactly as in their claim `iss`. It begins with https://',
    'https://token.actions.githubusercontent.com',
  ),
  audience: describe(
    Type.String({ minLength: 1, maxLength: 500 }),
    'The claim `aud` of the tokens, or one entry of it',
    'https://slipway.example.com',
  ),
  claims: Claims,
})

/** Whose tokens a service account takes. */
export const Trust = Strict({
  id: Ref('trust', 'UUID of the trust'),
  ...CreateTrust.properties,
  created_at: Moment('When the trust was created', MOMENTS.made),
  created_by: NullableRef('user', 'The user who created the trust; null: not known'),
})

export const Trusts = Strict({ trusts: describe(Type.Array(Trust), 'The trusts, the oldest first') })
