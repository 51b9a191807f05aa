import type { TSchema } from '@sinclair/typebox'
import { ErrorBody, IdempotencyKey } from '../common.ts'
import { CONTENT_DIGEST } from '../content.ts'
import { OPERATIONS, type Operation, type OperationId } from '../operations.ts'
import { type Components, createComponents } from './components.ts'
import { exampleOf } from './example-of.ts'
import { EXAMPLES } from './examples.ts'
import { idOf, PATH_PARAMETERS } from './path-parameters.ts'
import { ATTEMPTS_ERROR, HEADERS, RESPONSES, responsesOf } from './responses.ts'

const DESCRIPTION = `Create, watch and control deployments of versioned sources on targets.

**Credentials.** \`POST /api/v1/auth/login\` gives an access token for an hour and a refresh cookie. Pipelines exchange
the ID token of their platform with \`POST /api/v1/auth/token\`, or use API keys.
Send either as \`Authorization: Bearer …\`. Live streams take a single-use token in \`sse_token\` instead.

**Permissions.** Each operation says which permission it needs. The permission comes from a role of the user, and an API key with
scopes has it only if a scope names it. Without it: 403 \`INSUFFICIENT_PERMISSIONS\`.

**Tenants.** Users of a tenant see the records of the tenant and shared records, which have no tenant. Records of other tenants are
404. A record that these users create belongs to the tenant. They use shared records, but to change one is 403
\`INSUFFICIENT_PERMISSIONS\`. Deployments, users and webhooks are never shared.

**Errors.** Every refusal except that of the general limit is \`{ "error": { "code", "message", "details"? } }\`. Each operation
lists its codes in \`x-error-codes\`. Unknown fields and parameters are refused. The answer lists up to 100 errors of a request at once.
An unknown path is 404 \`NOT_FOUND\`, an unknown method 405 \`METHOD_NOT_ALLOWED\`. Each GET except streams answers HEAD, too.
An id in a path that names no record is 404. An unknown id in a body is 404 with \`details.missing\`, a malformed one 400.

**Limits.** 100 requests a second per client address, 200 at once; beyond that 429 in plain text. Five attempts to log in per
minute; the sixth locks the address out for 15 minutes. Both limits can be configured. Probes do not count. Wrong two-factor
codes count per user: the fifth within 15 minutes locks the codes of the user for 30 seconds. Each further one locks for twice as
long, up to 900 seconds. A request must arrive within 60 seconds, else 408 \`INVALID_BODY\`; an upload may take 6 hours, with pauses
of at most 60 seconds.

**Lists.** Newest first, unless the operation says otherwise. \`page\` counts from 1. \`limit\` is 1 to 100 (50 when omitted).
Values out of range become the nearest valid value. A page beyond the last is empty.

**Tags.** The answer of a GET has an \`ETag\`, unless it is so large that it is sent while it is read. Send it as
\`If-None-Match\` with the next read: without a change, the answer is 304 without body.

**Ids.** If a record has a \`sqid\`, paths and bodies accept the \`sqid\` and the UUID.`

const TAGS: Record<string, string> = {
  authentication: 'Logging in, second factors, API keys, stream tokens',
  overview: 'What happens now',
  deployments: 'Deployments, the queue before them, their logs and results',
  releases:
    'What is in force on each target: the version that was applied last and not rolled back, and the latest attempt. A ' +
    'release is the part of a deployment on one target',
  actions: 'Sources with one command',
  sequences: 'Ordered lists of actions',
  solutions: 'Ordered lists of sequences',
  content: 'Files for commands, stored under their hash',
  targets: 'Where commands run, and the tags that select targets',
  environments: 'Groups of targets with variables of their own',
  tenants: 'Groups of users and of records that no other tenant sees',
  freezes:
    'Times without deployments. A freeze of a tenant or an environment applies to a deployment that names it or selects a ' +
    'target of it. A freeze of a solution applies to deployments of the solution. If a freeze names several of these, all ' +
    'must match; if it names none, it always applies. Create and redeploy are refused with 409 `DEPLOYMENT_FROZEN`: ' +
    '`details.active_freezes` has `{ id, name, ends_at }` of each freeze, and `target_ids` if it applies only because of ' +
    'these targets. A preview warns, and a pending request is held until the freeze ends',
  streams:
    'Server-Sent Events about changes. Each message is one `data:` line, `{ event, data }`. `ping` comes first and every 15 ' +
    'seconds. The data of `created`, `updated` and `deleted` is `{ type, resource_type, id, timestamp, resource }`; ' +
    '`resource` is the list item (null when deleted), for `releases` a release in force with its `check`. When a stream ends, open it again with a new token, and read the list ' +
    'for the changes meanwhile',
  webhooks: 'URLs that Slipway calls after changes, signed after [Standard Webhooks](https://www.standardwebhooks.com)',
  users: 'The users of the API',
  roles: 'Sets of permissions for users',
  instances: 'The orchestration instances, which execute deployments, and the grants with which they join',
  audit: 'Changes and refused changes, with their users',
  service: 'Health, version and this document',
}

const pathParameters = ({ path, tag }: Operation) =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const { description, example } = PATH_PARAMETERS[name] ?? idOf({ tag, path })
    return { name, in: 'path', required: true, description, example, schema: { type: 'string' } }
  })

const queryParameters = ({ query }: Operation, components: Components) =>
  Object.entries((query?.properties ?? {}) as Record<string, TSchema>).map(
    ([name, { description, examples, ...schema }]) => ({
      name,
      in: 'query',
      required: false,
      description,
      example: exampleOf({ ...schema, examples }),
      schema: components.refer(schema),
    }),
  )

const CONTENT_DIGEST_PARAMETER = {
  name: 'Content-Digest',
  in: 'header',
  required: false,
  description: CONTENT_DIGEST,
  example: 'sha-256=:n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=:',
  schema: { type: 'string' },
}

const headerParameters = ({ idempotent, takesBytes }: Operation, components: Components) => {
  if (takesBytes) return [CONTENT_DIGEST_PARAMETER]
  if (!idempotent) return []
  const { description, examples, ...schema } = IdempotencyKey
  const example = exampleOf(IdempotencyKey)
  return [
    { name: 'Idempotency-Key', in: 'header', required: false, description, example, schema: components.refer(schema) },
  ]
}

/** Who may call: the page for people does not show `security` and the `x-` fields. */
function callersOf({ access, loginOnly, cookie }: Operation): string {
  if (cookie === 'takes') return 'Needs the refresh cookie.'
  if (access === 'public') return 'Needs no credential.'
  if (access === 'sse') return 'Needs an SSE token.'
  if (loginOnly) {
    const permission = access.includes(':') ? ` and the permission \`${access}\`` : ''
    return `Needs an access token of a person${permission}: an API key or a service account is 403 \`FORBIDDEN\`.`
  }
  if (access === 'authenticated') return 'Needs an access token or an API key, of any permissions.'
  return `Needs the permission \`${access}\`.`
}

function securityOf({ access, cookie }: Operation): Record<string, string[]>[] {
  if (cookie === 'takes') return [{ refreshCookie: [] }]
  if (access === 'public') return []
  return [{ [access === 'sse' ? 'sseToken' : 'bearer']: [] }]
}

function operationObject(id: string, operation: Operation, components: Components) {
  const { access, audit, body, takesBytes, takesForm } = operation
  const example = EXAMPLES[id as OperationId] ?? (body && exampleOf(body))
  return {
    operationId: id,
    summary: operation.summary,
    description: `${operation.description}\n\n${callersOf(operation)}`,
    tags: [operation.tag],
    security: securityOf(operation),
    ...(access.includes(':') ? { 'x-permission': access } : {}),
    ...(operation.loginOnly ? { 'x-login-only': true } : {}),
    ...(audit === undefined ? {} : { 'x-audit-action': audit }),
    parameters: [
      ...pathParameters(operation),
      ...queryParameters(operation, components),
      ...headerParameters(operation, components),
    ],
    ...(takesBytes
      ? { requestBody: { required: true, content: { 'application/octet-stream': { example: 'The bytes' } } } }
      : {}),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: operation.bodyOptional !== true,
            content: {
              'application/json': { schema: components.refer(body), example },
              ...(takesForm
                ? { 'application/x-www-form-urlencoded': { schema: components.refer(body), example } }
                : {}),
            },
          },
        }),
    responses: responsesOf(operation, components),
  }
}

/** Makes the OpenAPI 3.1 document from the operations. */
export function openApiDocument(serverVersion: string): Record<string, unknown> {
  const components = createComponents()
  const paths: Record<string, Record<string, unknown>> = {}
  const tags = new Set<string>()
  for (const [id, operation] of Object.entries(OPERATIONS) as [string, Operation][]) {
    const path = `/api/v1${operation.path}`
    paths[path] ??= {}
    paths[path][operation.method.toLowerCase()] = operationObject(id, operation, components)
    tags.add(operation.tag)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Slipway',
      version: serverVersion,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...tags].map((name) => ({ name, ...(TAGS[name] === undefined ? {} : { description: TAGS[name] }) })),
    paths,
    components: {
      schemas: { ...components.schemas, Error: components.define(ErrorBody), AttemptsError: ATTEMPTS_ERROR },
      headers: HEADERS,
      responses: RESPONSES,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An access token or an API key' },
        refreshCookie: { type: 'apiKey', in: 'cookie', name: 'refresh_token', description: 'Set by a login' },
        sseToken: { type: 'apiKey', in: 'query', name: 'sse_token', description: 'From POST /api/v1/auth/sse-token' },
      },
    },
  }
}
