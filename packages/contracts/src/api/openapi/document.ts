import { ErrorBody, IdempotencyKey } from '../common.ts'
import { CONTENT_DIGEST } from '../content.ts'
import { OPERATIONS, type Operation, type OperationId } from '../operations.ts'
import { type Components, createComponents } from './components.ts'
import { EXAMPLES } from './examples.ts'
import { ATTEMPTS_ERROR, HEADERS, RESPONSES, responsesOf } from './responses.ts'

const DESCRIPTION = `Create, watch and control deployments of versioned sources on targets.

**Credentials.** \`POST /api/v1/auth/login\` gives an access token for an hour and a refresh cookie; pipelines use API keys.
Either is sent as \`Authorization: Bearer …\`. Live streams take a single-use token in \`sse_token\` instead.

**Errors.** Every refusal but that of the general limit is \`{ "error": { "code", "message", "details"? } }\`; the codes of
each operation are in \`x-error-codes\`. Fields and parameters that are not known are refused, and everything that is wrong
with a request is reported at once. An unknown path is 404 \`NOT_FOUND\`, an unknown method 405 \`METHOD_NOT_ALLOWED\`; each
GET but those of streams answers HEAD as well. What belongs to another tenant does not exist.

**Limits.** 100 requests a second for each client address, 200 at once; beyond that 429 in plain text. Five attempts to log in
within a minute; the sixth locks the address out for 15 minutes. Both can be configured. Probes are not counted. Wrong two-factor
codes count per user: the fifth within 15 minutes locks the user's codes for 30 seconds, each further one for twice as long, up
to 900 seconds.

**Lists.** \`page\` counts from 1, \`limit\` is 1 to 100 (50 when omitted); values out of range are moved into it. Newest first.

**Ids.** Where a record has a \`sqid\`, paths and bodies take it as well as the UUID.`

const TAGS: Record<string, string> = {
  authentication: 'Logging in, second factors, API keys, stream tokens',
  deployments: 'Deployments, the queue before them, their logs and results',
  actions: 'Sources of one command',
  sequences: 'Actions in their order',
  solutions: 'Sequences in their order',
  content: 'Files for commands, stored under their hash',
  targets: 'Where commands run, and the tags that choose among them',
  environments: 'Groups of targets with variables of their own',
  tenants: 'Whom records belong to',
  freezes:
    'Times at which nothing is deployed. A freeze of a tenant or an environment applies to a deployment that names it, and to ' +
    'one that selects a target of it; a freeze of a solution to deployments of that solution; one of several where all of ' +
    'them match; one of none always. Create and redeploy are refused with 409 `DEPLOYMENT_FROZEN`, whose ' +
    '`details.active_freezes` has `{ id, name, ends_at }` of each freeze, and `target_ids` where it applies only by these ' +
    'targets. A preview warns, and a request that waits is held until the freeze ends',
  streams:
    'Server-Sent Events that tell of changes. Each message is one `data:` line, `{ event, data }`: first `ping`, and again ' +
    'every 15 seconds, then `created`, `updated` and `deleted`, whose data is ' +
    '`{ type, resource_type, id, timestamp, resource }`, `resource` being the item of the list (null when deleted). ' +
    'A stream that ends has to be opened again, with a new token; what changed meanwhile is in the list',
  webhooks:
    'URLs that are called when something changes, signed as [Standard Webhooks](https://www.standardwebhooks.com) says',
  users: 'Who may log in',
  roles: 'What those who log in may do',
  instances: 'What carries deployments out, and the grants with which they join',
  audit: 'What was changed and refused, by whom',
  service: 'Health, version and this document',
}

const QUERY: Record<string, string> = {
  page: 'From 1; what is smaller counts as 1',
  limit: 'Entries to return; values out of range are moved into it',
  search: 'Part of the name, in upper or lower case',
  offset: 'Entries to skip; 0 when omitted',
  from: 'Number of the first line to send; 0 when omitted',
  sse_token: 'A single-use token, from POST /api/v1/auth/sse-token',
}

const PATH: Record<string, string> = {
  id: 'A UUID; a SqId too where the record has one',
  resource_type: 'One of `deployments`, `pending`, `targets`, `instances`, `freezes`',
  sha256: 'SHA-256 of the content, in hex',
  version: 'A full semantic version, for example 1.4.0',
}

const pathParameters = (path: string) =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    ...(PATH[name] === undefined ? {} : { description: PATH[name] }),
    schema: { type: 'string' },
  }))

const queryParameters = ({ query }: Operation, components: Components) =>
  Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    ...(QUERY[name] === undefined ? {} : { description: QUERY[name] }),
    schema: components.refer(schema),
  }))

const CONTENT_DIGEST_PARAMETER = {
  name: 'Content-Digest',
  in: 'header',
  required: false,
  description: CONTENT_DIGEST,
  schema: { type: 'string' },
}

const headerParameters = ({ idempotent, takesBytes }: Operation, components: Components) => {
  if (takesBytes) return [CONTENT_DIGEST_PARAMETER]
  if (!idempotent) return []
  const { description, ...schema } = IdempotencyKey
  return [{ name: 'Idempotency-Key', in: 'header', required: false, description, schema: components.refer(schema) }]
}

function securityOf({ access, cookie }: Operation): Record<string, string[]>[] {
  if (cookie === 'takes') return [{ refreshCookie: [] }]
  if (access === 'public') return []
  return [{ [access === 'sse' ? 'sseToken' : 'bearer']: [] }]
}

function operationObject(id: string, operation: Operation, components: Components) {
  const { access, audit, body, takesBytes } = operation
  const example = EXAMPLES[id as OperationId]
  return {
    operationId: id,
    summary: operation.summary,
    tags: [operation.tag],
    security: securityOf(operation),
    ...(access.includes(':') ? { 'x-permission': access } : {}),
    ...(operation.loginOnly ? { 'x-login-only': true } : {}),
    ...(audit === undefined ? {} : { 'x-audit-action': audit }),
    parameters: [
      ...pathParameters(operation.path),
      ...queryParameters(operation, components),
      ...headerParameters(operation, components),
    ],
    ...(takesBytes ? { requestBody: { required: true, content: { 'application/octet-stream': {} } } } : {}),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: operation.bodyOptional !== true,
            content: {
              'application/json': { schema: components.refer(body), ...(example === undefined ? {} : { example }) },
            },
          },
        }),
    responses: responsesOf(operation, components),
  }
}

/** The OpenAPI 3.1 document of the whole API, made from the table of operations. */
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
