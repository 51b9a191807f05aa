import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { hashToken, uuidv7 } from '@slipway/runtime'
import { makeApiKey } from '../src/identity/api-key.ts'
import { addUser, startGateway, type TestGateway, UNKNOWN_ID } from './setup.ts'

/**
 * Who may call which operation, written by hand from the interface, so that the code is not its own judge.
 * The first word is the permission (`anybody`: no credential; `user`: any credential; `login`: any but an API key;
 * `stream`: an SSE token). Then follow the roles that have the permission: (a)dmin, (o)perator, (u)ser. A last word `login`
 * refuses API keys as well.
 */
const POLICY: Record<string, string> = {
  'POST /auth/login': 'anybody',
  'POST /auth/2fa/verify': 'anybody',
  'POST /auth/refresh': 'anybody',
  'POST /auth/token': 'anybody',
  'GET /auth/providers': 'anybody',
  'GET /auth/oidc/{id}/start': 'anybody',
  'GET /auth/oidc/{id}/callback': 'anybody',
  'POST /auth/cli-token': 'anybody',
  'POST /auth/logout': 'login',
  'GET /auth/me': 'user',
  'GET /auth/can': 'user',
  'POST /auth/password': 'login',
  'POST /auth/2fa/setup': 'login',
  'POST /auth/2fa/enable': 'login',
  'POST /auth/2fa/disable': 'login',
  'GET /auth/sessions': 'login',
  'DELETE /auth/sessions/{id}': 'login',
  'POST /auth/api-keys': 'login',
  'GET /auth/api-keys': 'login',
  // An API key may revoke itself but no other key.
  'DELETE /auth/api-keys/{id}': 'login',
  'POST /auth/sse-token': 'user',
  'POST /auth/sse-token/refresh': 'user',
  'GET /overview': 'deployments:read aou',
  'GET /overview/counts': 'deployments:read aou',
  'GET /deployments': 'deployments:read aou',
  'POST /deployments': 'deployments:create ao',
  'POST /deployments/preview': 'deployments:create ao',
  'GET /deployments/pending': 'deployments:read aou',
  'GET /deployments/pending/{id}': 'deployments:read aou',
  'DELETE /deployments/pending/{id}': 'deployments:cancel ao',
  'PATCH /deployments/pending/{id}': 'deployments:create ao',
  'POST /deployments/pending/{id}/approve': 'deployments:approve a',
  'POST /deployments/pending/{id}/reject': 'deployments:approve a',
  'GET /deployments/{id}': 'deployments:read aou',
  'POST /deployments/{id}/cancel': 'deployments:cancel ao',
  'POST /deployments/{id}/redeploy': 'deployments:create ao',
  'GET /deployments/{id}/logs': 'stream',
  'GET /sse/{resource_type}': 'stream',
  'GET /deployments/{id}/logs/history': 'deployments:read aou',
  'GET /deployments/{id}/logs/text': 'deployments:read aou',
  'GET /deployments/{id}/analysis': 'deployments:read aou',
  'GET /deployments/{id}/changes': 'deployments:read aou',
  // Each change needs the permission of its own operation.
  'POST /catalog/check': 'user',
  ...sources('actions'),
  ...sources('sequences'),
  ...sources('solutions'),
  'GET /content': 'content:read aou',
  'POST /content': 'content:create ao',
  'GET /content/{sha256}': 'content:read aou',
  ...records('targets', 'ao'),
  'GET /targets/{id}/deployments': 'deployments:read aou',
  'GET /targets/{id}/releases': 'deployments:read aou',
  'GET /releases': 'deployments:read aou',
  'GET /releases/matrix': 'deployments:read aou',
  'GET /releases/promotion': 'deployments:read aou',
  'GET /releases/rollback': 'deployments:read aou',
  'POST /releases/check': 'deployments:create ao',
  'POST /targets/{id}/agent-token': 'targets:update ao',
  'GET /targets/{id}/agent': 'targets:read aou',
  'DELETE /targets/{id}/agent': 'targets:update ao',
  ...records('environments', 'a'),
  ...records('tenants', 'a'),
  'GET /tags': 'tags:read aou',
  ...records('freezes', 'ao', '/deployment-freezes'),
  ...records('webhooks', 'a'),
  'GET /webhooks/{id}/deliveries': 'webhooks:read aou',
  'POST /webhooks/{id}/deliveries/{delivery_id}/redeliver': 'webhooks:update a',
  'GET /admin/users': 'users:read a',
  'POST /admin/users': 'users:create a',
  'GET /admin/users/{id}': 'users:read a',
  'PATCH /admin/users/{id}': 'users:update a',
  'DELETE /admin/users/{id}': 'users:delete a',
  'GET /admin/users/{id}/trusts': 'users:read a',
  'POST /admin/users/{id}/trusts': 'users:update a login',
  'DELETE /admin/users/{id}/trusts/{trust_id}': 'users:update a',
  'GET /admin/users/{id}/api-keys': 'users:read a',
  'POST /admin/users/{id}/api-keys': 'users:update a login',
  'DELETE /admin/users/{id}/api-keys/{key_id}': 'users:update a',
  'GET /admin/roles': 'roles:read a',
  'POST /admin/roles': 'roles:create a',
  'GET /admin/roles/{id}': 'roles:read a',
  'PATCH /admin/roles/{id}': 'roles:update a',
  'DELETE /admin/roles/{id}': 'roles:delete a',
  'GET /admin/instances': 'instances:read aou',
  'GET /admin/instances/{id}': 'instances:read aou',
  'PATCH /admin/instances/{id}': 'instances:update a',
  'DELETE /admin/instances/{id}': 'instances:delete a',
  'GET /instances/grants': 'instances:read aou',
  'POST /instances/grants': 'instances:create a',
  'GET /instances/grants/{id}': 'instances:read aou',
  'DELETE /instances/grants/{id}': 'instances:delete a',
  'GET /audit/logs': 'audit:read a',
  'GET /audit/chain': 'audit:read a',
  'GET /health': 'anybody',
  'GET /health/ready': 'anybody',
  'GET /server/info': 'user',
  'GET /openapi.json': 'anybody',
}

function records(resource: string, changers: string, path = `/${resource}`): Record<string, string> {
  return {
    [`GET ${path}`]: `${resource}:read aou`,
    [`POST ${path}`]: `${resource}:create ${changers}`,
    [`GET ${path}/{id}`]: `${resource}:read aou`,
    [`PATCH ${path}/{id}`]: `${resource}:update ${changers}`,
    [`DELETE ${path}/{id}`]: `${resource}:delete ${changers}`,
  }
}

function sources(kind: string): Record<string, string> {
  return {
    ...records(kind, 'ao'),
    [`GET /${kind}/{id}/versions`]: `${kind}:read aou`,
    [`POST /${kind}/{id}/versions`]: `${kind}:update ao`,
    [`GET /${kind}/{id}/versions/{version}`]: `${kind}:read aou`,
  }
}

const ROLES = ['admin', 'operator', 'user'] as const
type Role = (typeof ROLES)[number]

interface Entry {
  security: Record<string, string[]>[]
  'x-permission'?: string
  responses: Record<string, { 'x-error-codes'?: string[] }>
}

let gateway: TestGateway
let server: http.Server
let base: string
let document: Record<string, Record<string, Entry>>
const people = new Map<Role, { id: string; token: string }>()

beforeAll(async () => {
  gateway = await startGateway()
  server = http.createServer(gateway.app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`
  const answer = (await (await fetch(`${base}/openapi.json`)).json()) as { paths: typeof document }
  document = answer.paths
  for (const role of ROLES) people.set(role, await addUser(gateway, { role }))
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await gateway.close()
})

const placeOf = (route: string) => {
  const [method = '', path = ''] = route.split(' ')
  return { method, path }
}
const entryOf = (route: string): Entry | undefined => {
  const { method, path } = placeOf(route)
  return document[`/api/v1${path}`]?.[method.toLowerCase()]
}

/** Sends a request that is invalid except for its credential. An authorized caller gets 400 or 404, or a success. */
async function call(route: string, credential: string | null): Promise<{ status: number; code: string | undefined }> {
  const { method, path } = placeOf(route)
  const response = await fetch(base + path.replace('{id}', UNKNOWN_ID).replace('{version}', '1.0.0'), {
    method,
    headers: {
      ...(credential === null ? {} : { authorization: `Bearer ${credential}` }),
      ...(method === 'GET' || method === 'DELETE' ? {} : { 'content-type': 'application/json' }),
    },
    ...(method === 'GET' || method === 'DELETE' ? {} : { body: '{"no_such_field":1}' }),
  })
  const text = await response.text()
  const code = response.ok || text === '' ? undefined : (JSON.parse(text).error?.code as string | undefined)
  return { status: response.status, code }
}

const verdict = ({ status, code }: { status: number; code: string | undefined }) =>
  status === 401 || status === 403 ? `${status} ${code}` : 'allowed'

const keys = new Map<string, string>()

/** Inserts an API key into the database, once for the same scopes. Its scopes may exceed the permissions of its user. */
async function keyOf(role: Role, scopes: string[]): Promise<string> {
  const name = `${role} ${scopes}`
  const known = keys.get(name)
  if (known !== undefined) return known
  const key = makeApiKey()
  await gateway.database.query(
    `INSERT INTO api_keys (id, user_id, name, key_prefix, key_hash, scopes) VALUES ($1, $2, 'key', 'svc_', $3, $4)`,
    [uuidv7(), people.get(role)?.id, hashToken(key), scopes],
  )
  keys.set(name, key)
  return key
}

test('every route has an entry in the policy, and every entry a route', () => {
  const routes = Object.entries(document).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace('/api/v1', '')}`),
  )
  expect(Object.keys(POLICY).sort()).toEqual(routes.sort())
})

describe('the routes, the policy and the document agree on', () => {
  test('the credential and the permission of each route', async () => {
    for (const route of Object.keys(POLICY)) {
      const [access = '', roles] = (POLICY[route] as string).split(' ')
      const entry = entryOf(route)
      const isPublic = access === 'anybody'
      const scheme = access === 'stream' ? 'sseToken' : 'bearer'
      const publicSchemes = route === 'POST /auth/refresh' ? ['refreshCookie'] : []
      expect({
        route,
        schemes: entry?.security.flatMap(Object.keys),
        permission: entry?.['x-permission'],
      }).toEqual({
        route,
        schemes: isPublic ? publicSchemes : [scheme],
        permission: roles === undefined ? undefined : access,
      })
      if (access === 'stream') continue
      const { status, code } = await call(route, null)
      expect({
        route,
        asksForBearer: status === 401 && code === 'MISSING_AUTH_HEADER',
        isDocumented: entry?.responses[401]?.['x-error-codes']?.includes('MISSING_AUTH_HEADER') ?? false,
      }).toEqual({ route, asksForBearer: !isPublic, isDocumented: !isPublic })
    }
  })

  test('the methods of each path', async () => {
    for (const [path, methods] of Object.entries(document)) {
      const known = Object.keys(methods).map((method) => method.toUpperCase())
      const url = base.replace('/api/v1', '') + path.replace('{id}', UNKNOWN_ID).replace('{version}', '1.0.0')
      const response = await fetch(url, { method: 'PUT' })
      const allowed = response.headers
        .get('allow')
        ?.split(', ')
        .filter((method) => method !== 'HEAD')
      expect({ path, status: response.status, allowed: allowed?.sort() }).toEqual({
        path,
        status: 405,
        allowed: known.sort(),
      })
    }
  })
})

const routes = Object.keys(POLICY).filter((route) => !/^(anybody|stream)/.test(POLICY[route] as string))
const FORBIDDEN = '403 INSUFFICIENT_PERMISSIONS'

/** What each role gets on a route with its login and with an API key of the scope of the route. */
function expected(route: string, role: Role): { login: string; key: string } {
  const [access = '', roles, last] = (POLICY[route] as string).split(' ')
  const login = roles === undefined || roles.includes(role.charAt(0)) ? 'allowed' : FORBIDDEN
  const refusesKeys = access === 'login' || (last === 'login' && login === 'allowed')
  return { login, key: refusesKeys ? '403 FORBIDDEN' : login }
}

const scopeOf = (route: string): string[] => {
  const [access = '', roles] = (POLICY[route] as string).split(' ')
  return roles === undefined ? [] : [access]
}

test.each(ROLES)('each route is allowed or refused to the role %s, by login and by API key', async (role) => {
  for (const route of routes) {
    // A logout ends the session, so this route needs a user of its own.
    const login = route === 'POST /auth/logout' ? await addUser(gateway, { role }) : people.get(role)
    expect({
      route,
      login: verdict(await call(route, login?.token ?? '')),
      key: verdict(await call(route, await keyOf(role, scopeOf(route)))),
    }).toEqual({ route, ...expected(route, role) })
  }
})

test('an API key of an administrator has all permissions without scopes, and only those of its scopes with them', async () => {
  for (const route of routes) {
    const scopes = scopeOf(route)
    const other = scopes[0] === 'tags:read' ? 'targets:read' : 'tags:read'
    const { key } = expected(route, 'admin')
    expect({
      route,
      all: verdict(await call(route, await keyOf('admin', []))),
      other: verdict(await call(route, await keyOf('admin', [other]))),
    }).toEqual({ route, all: key, other: scopes.length === 0 ? key : FORBIDDEN })
  }
})

test('a service account with the role admin may do all but what needs the login of a person', async () => {
  const { id, token } = await addUser(gateway, { role: 'admin' })
  await gateway.database.query(`UPDATE users SET kind = 'service' WHERE id = $1`, [id])
  for (const route of routes) {
    expect({ route, service: verdict(await call(route, token)) }).toEqual({
      route,
      service: expected(route, 'admin').key,
    })
  }
})
