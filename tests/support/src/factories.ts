import { randomBytes, randomUUID } from 'node:crypto'
import type { Queryable } from '@slipway/database'
import { type Answer, type Api, loginToSuite } from './api.ts'
import type { Suite } from './suite.ts'
import { waitFor } from './waiting.ts'

const suffix = () => randomBytes(4).toString('hex')

const UNAVAILABLE = new Set(['SERVICE_UNAVAILABLE', 'DATABASE_CONNECTION_ERROR'])

/** Whether an answer says that a service or the database is unavailable. The call may have been carried out or not. */
export const isUnavailable = ({ error }: { error?: { code: string } }) => UNAVAILABLE.has(error?.code ?? '')

/** Sends a call, again while the answer is that a service or the database is unavailable, as on a machine that is too busy. */
async function answered<B extends { error?: { code: string } }>(send: () => Promise<Answer<B>>): Promise<Answer<B>> {
  return await waitFor(
    async () => {
      const answer = await send()
      return isUnavailable(answer.body) ? null : answer
    },
    { what: 'an answer other than that a service is unavailable' },
  )
}

async function created<B extends { error?: { code: string } }>(send: () => Promise<Answer<B>>): Promise<B> {
  const { status, body } = await send()
  if (status !== 201) throw new Error(`expected 201, got ${status}: ${JSON.stringify(body)}`)
  return body
}

export interface ActionParts {
  script?: string
  interpreter?: string
  rollback?: string
  check?: { script: string; interval_seconds?: number; timeout_seconds?: number }
  max_retries?: number
  timeout_seconds?: number
  variables?: unknown[]
  env?: Record<string, string>
  files?: { content: string; path: string; mode?: string }[]
}

/** Publishes an action with one version. Returns its id. */
export async function createAction(api: Api, parts: ActionParts = {}, name = `action-${suffix()}`): Promise<string> {
  const { script = 'true', rollback, ...rest } = parts
  const definition = {
    type: 'script',
    script,
    ...(rollback === undefined ? {} : { rollback: { script: rollback } }),
    ...rest,
  }
  return (await created(() => api.post('/actions', { name, version: '1.0.0', definition }))).id
}

export async function createSequence(api: Api, actionIds: string[], name = `sequence-${suffix()}`): Promise<string> {
  const definition = { actions: actionIds.map((action_id) => ({ action_id })) }
  return (await created(() => api.post('/sequences', { name, version: '1.0.0', definition }))).id
}

export async function createLocalTarget(api: Api, parts: Record<string, unknown> = {}): Promise<string> {
  const send = () => api.post('/targets', { name: `target-${suffix()}`, connection: { type: 'local' }, ...parts })
  return (await created(send)).id
}

export const createLocalTargets = (api: Api, count: number) =>
  Promise.all(Array.from({ length: count }, () => createLocalTarget(api)))

/**
 * Inserts thousands of local targets into the database, because the API would take minutes. Their names are rack-00001 and so on,
 * after those of earlier calls, and each has the tag fleet=racks. Returns the ids in the order of the names.
 */
export async function addLocalTargets(database: Queryable, count: number): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(
    `WITH added AS (
       INSERT INTO targets (id, name, connection, updated_at)
       SELECT gen_random_uuid(), 'rack-' || lpad((earlier.count + n)::text, 5, '0'), '{"type": "local"}', now()
       FROM generate_series(1, $1::int) n, (SELECT count(*) FROM targets WHERE name LIKE 'rack-%') earlier RETURNING id, name
     ), tagged AS (
       INSERT INTO target_tags (target_id, key, value) SELECT id, 'fleet', 'racks' FROM added
     )
     SELECT id FROM added ORDER BY name`,
    [count],
  )
  return rows.map(({ id }) => id)
}

/** Creates a user with these roles and logs in. */
export async function createUser(
  suite: Pick<Suite, 'url'>,
  admin: Api,
  roles: string[],
  tenant_id: string | null = null,
): Promise<Api> {
  const username = `user-${suffix()}`
  const account = { email: `${username}@example.com`, password: 'long-enough-password' }
  await created(() => admin.post('/admin/users', { ...account, username, roles, tenant_id }))
  return await loginToSuite({ url: suite.url, admin: account })
}

/** Creates one deployment while services restart or the machine is too busy: repeats the call with its idempotency key. */
export async function createWithRetries(api: Api, body: unknown) {
  const headers = { 'idempotency-key': randomUUID() }
  return await answered(() => api.call('POST', '/deployments', body, headers))
}

const FINAL = new Set(['success', 'failed', 'cancelled', 'rolled_back'])

/** Waits until a deployment has ended and returns its detail. */
export async function deploymentEnd(api: Api, id: string, timeoutMs?: number) {
  return await waitFor(
    async () => {
      const { body } = await api.get(`/deployments/${id}`)
      return FINAL.has(body.state) ? body : null
    },
    { timeoutMs, what: `deployment ${id} to end` },
  )
}

/** Waits until a pending request is dispatched. Returns the id of its deployment. */
export async function dispatchedDeployment(api: Api, pendingId: string, timeoutMs?: number): Promise<string> {
  return await waitFor(
    async () => {
      const { body } = await api.get('/deployments/pending?status=dispatched')
      return (body as { id: string; deployment_id: string }[]).find((p) => p.id === pendingId)?.deployment_id
    },
    { timeoutMs, what: `request ${pendingId} to be dispatched` },
  )
}

export interface LogEntry {
  id: string
  timestamp: string
  level: string
  target_name: string | null
  message: string
  stdout: string | null
  stderr: string | null
  metadata: { seq: number } & Record<string, unknown>
  analysis: Record<string, unknown> | null
}

export async function* logPages(api: Api, id: string): AsyncGenerator<LogEntry[]> {
  for (let offset = 0; ; ) {
    const { status, body } = await api.get<LogEntry[]>(`/deployments/${id}/logs/history?limit=1000&offset=${offset}`)
    if (status !== 200) throw new Error(`history answered ${status}: ${JSON.stringify(body)}`)
    if (body.length === 0) return
    yield body
    offset += body.length
  }
}

/** All lines of a deployment's log. */
export async function logHistory(api: Api, id: string): Promise<LogEntry[]> {
  const lines: LogEntry[] = []
  for await (const page of logPages(api, id)) lines.push(...page)
  return lines
}
