import { ApiKeys, CreateApiKey, CreatedApiKey } from '../auth.ts'
import { CreateTrust, ExchangedToken, ExchangeToken, Trust, Trusts } from '../tokens.ts'
import { op } from './operation.ts'

/** Tokens of pipelines, and the service accounts that take them. */
export const tokenOperations = {
  exchangeToken: op({
    method: 'POST',
    path: '/auth/token',
    audit: 'auth.token_exchange',
    auditsNamedRefusals: true,
    limit: 'exchange',
    refusals: ['INVALID_TOKEN'],
    summary: 'Exchange the ID token of a pipeline for an access token of a service account',
    description:
      'A trust of the service account must name issuer and audience of the token and match its claims. Each token works once. The access token is valid for 15 minutes. Whatever is wrong with token, account or trust is 401 `INVALID_TOKEN` with one message; the audit log has the reason. The 31st refused call of an address within a minute is 429.',
    tag: 'authentication',
    access: 'public',
    body: ExchangeToken,
    takesForm: true,
    responses: { 200: ExchangedToken },
  }),
  listTrusts: op({
    method: 'GET',
    path: '/admin/users/{id}/trusts',
    summary: 'List the trusts of a service account, oldest first',
    description: 'Lists whose tokens the account takes, without pages. A person has none.',
    tag: 'users',
    access: 'users:read',
    responses: { 200: Trusts },
  }),
  createTrust: op({
    method: 'POST',
    path: '/admin/users/{id}/trusts',
    audit: 'trust.create',
    loginOnly: true,
    summary: 'Let a service account take tokens of a pipeline',
    description:
      'From now on, tokens of this issuer for this audience with all of these claims can be exchanged for access tokens of the account. The caller needs every permission of the account (403). An issuer that is not HTTPS is 400. 409: the user is a person, the name is taken, or the account has 50 trusts.',
    tag: 'users',
    access: 'users:update',
    body: CreateTrust,
    responses: { 201: Trust },
  }),
  deleteTrust: op({
    method: 'DELETE',
    path: '/admin/users/{id}/trusts/{trust_id}',
    audit: 'trust.delete',
    summary: 'Delete a trust of a service account',
    description:
      'The tokens that it names can no longer be exchanged. Access tokens that were exchanged before end after 15 minutes at most; to end them at once, suspend the account.',
    tag: 'users',
    access: 'users:update',
    responses: { 204: null },
  }),
  listUserApiKeys: op({
    method: 'GET',
    path: '/admin/users/{id}/api-keys',
    summary: 'List the API keys of a service account, newest first',
    description:
      'Lists all keys of the account with their last use, without pages; expired ones too, and never the keys themselves. 409: the user is a person.',
    tag: 'users',
    access: 'users:read',
    refusals: ['CONFLICT'],
    responses: { 200: ApiKeys },
  }),
  createUserApiKey: op({
    method: 'POST',
    path: '/admin/users/{id}/api-keys',
    audit: 'api_key.create',
    loginOnly: true,
    summary: 'Create an API key of a service account; the key is shown once',
    description:
      'Creates a key that acts as the account. The caller needs every permission of the account (403), and the account every permission in `scopes` (403). The key is shown in this answer only. 409: the user is a person, who creates keys with createApiKey.',
    tag: 'users',
    access: 'users:update',
    body: CreateApiKey,
    responses: { 201: CreatedApiKey },
  }),
  deleteUserApiKey: op({
    method: 'DELETE',
    path: '/admin/users/{id}/api-keys/{key_id}',
    audit: 'api_key.delete',
    summary: 'Revoke an API key of a service account',
    description: 'Revokes the key at once, with its open streams. 409: the user is a person, who can be suspended.',
    tag: 'users',
    access: 'users:update',
    responses: { 204: null },
  }),
} as const
