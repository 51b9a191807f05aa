import { randomBytes } from 'node:crypto'
import type { StreamBatch, StreamPartialLine, SyncRequest } from '@slipway/contracts'
import type { Database } from '@slipway/database'
import type { FailureStrategy, RollbackStrategy } from '@slipway/domain'
import { listen } from '@slipway/http'
import { hashToken, KeyRing, randomToken, SLIPWAY_VERSION, uuidv7 } from '@slipway/runtime'
import { databaseAs, testLogger as logger, openTestDatabase } from '@slipway/testing'
import type { Analyst } from '../src/analysis/analyst.ts'
import type { Bridge } from '../src/bridge.ts'
import { createApp } from '../src/http/app.ts'
import type { AllowedLabels } from '../src/labels.sql.ts'
import { LogVolume } from '../src/log-volume/log-volume.ts'
import { WakeUps } from '../src/wake-ups.ts'

export const PROBE_SECONDS = 60
export const keys = KeyRing.parse(`test:${Buffer.alloc(32, 7).toString('base64')}`)

export interface TestBridge {
  bridge: Bridge
  /** Connects as the owner, for preparing and checking. The bridge itself has the rights of its role. */
  owner: Database
  url: string
  published: StreamBatch[]
  publishedPartialLines: StreamPartialLine[]
  close(): Promise<void>
}

/**
 * A bridge as main.ts makes it, without broker. `published` keeps its live batches unless `live` is given. The bridge
 * connects with its own role to the database of `owner`.
 */
export async function startBridge(
  owner: Database,
  live?: Bridge['live'],
  analyst: Analyst | null = null,
): Promise<TestBridge> {
  const published: StreamBatch[] = []
  const publishedPartialLines: StreamPartialLine[] = []
  const keep: Bridge['live'] = {
    async publish(_deploymentId, batch) {
      published.push(batch)
    },
    async publishPartialLines(_deploymentId, lines) {
      publishedPartialLines.push(...lines)
    },
  }
  const bridge: Bridge = {
    database: databaseAs(owner, 'executor-bridge'),
    keys,
    logger,
    live: live ?? keep,
    wakeUps: new WakeUps(),
    probeSeconds: PROBE_SECONDS,
    serviceAccounts: null,
    serviceAccountLabels: {},
    analyst,
    logVolume: new LogVolume({ deployment: 0, tenant_day: 0 }),
    wakeRelay() {},
  }
  const stopping = new AbortController()
  const server = await listen(createApp(bridge, stopping.signal), { port: 0, host: '127.0.0.1', variable: 'none' })
  return {
    bridge,
    owner,
    url: `http://127.0.0.1:${server.port}`,
    published,
    publishedPartialLines,
    async close() {
      stopping.abort()
      await server.close()
    },
  }
}

export interface BridgeWithDatabase extends TestBridge {
  database: Database
}

/** A bridge on its own database, which `close` drops. */
export async function startBridgeWithDatabase(): Promise<BridgeWithDatabase> {
  const { database, drop } = await openTestDatabase()
  const bridge = await startBridge(database)
  return {
    ...bridge,
    database,
    async close() {
      await bridge.close()
      await drop()
    },
  }
}

export interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked into field by field
  body: any
}

export async function post(url: string, token: string | undefined, body: unknown): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: response.status, body: await response.json() }
}

export const joinBody = (fields: Record<string, unknown> = {}) => ({
  name: `instance-${randomBytes(4).toString('hex')}`,
  version: SLIPWAY_VERSION,
  capacity: 3,
  labels: {},
  ...fields,
})

export interface Joined {
  id: string
  credential: string
}

export interface TestGrant {
  uses?: number
  labels?: AllowedLabels
  tenant_id?: string
  expires_in_seconds?: number
}

/** Inserts a grant as the gateway does. Returns its token. */
export async function addGrant(database: Database, grant: TestGrant = {}): Promise<string> {
  const { uses = 1, labels = {}, tenant_id = null, expires_in_seconds = 3_600 } = grant
  const id = uuidv7()
  const token = `${id}.${randomToken()}`
  await database.query(
    `INSERT INTO instance_grants (id, token_hash, uses, labels, tenant_id, expires_at)
     VALUES ($1, $2, $3, $4, $5, now() + make_interval(secs => $6))`,
    [id, hashToken(token), uses, JSON.stringify(labels), tenant_id, expires_in_seconds],
  )
  return token
}

export const postJoin = (bridge: Pick<TestBridge, 'url'>, token: string | undefined, body: unknown) =>
  post(`${bridge.url}/v1/instances`, token, body)

/** An instance that has joined with its own grant, which allows any values of its labels. It counts as online. */
export async function joinInstance(bridge: TestBridge, fields: Record<string, unknown> = {}): Promise<Joined> {
  const request = joinBody(fields)
  const database = bridge.owner
  const labels = Object.fromEntries(Object.keys(request.labels).map((key) => [key, null]))
  const token = await addGrant(database, { labels })
  const { status, body } = await postJoin(bridge, token, request)
  if (status !== 201) throw new Error(JSON.stringify(body))
  await database.query('UPDATE instances SET last_heartbeat_at = now() WHERE id = $1', [body.instance_id])
  return { id: body.instance_id, credential: body.credential }
}

/** A sync of an instance without runs that does not wait, with these fields. */
export const syncBody = (fields: Partial<SyncRequest> = {}): SyncRequest => ({
  version: SLIPWAY_VERSION,
  capacity: 3,
  labels: {},
  wait_seconds: 0,
  accepts_runs: true,
  runs: [],
  stopped: [],
  refused: [],
  declined: [],
  probe_slots: 0,
  probes: [],
  ...fields,
})

export const postSync = (
  bridge: Pick<TestBridge, 'url'>,
  instance: Pick<Joined, 'credential'>,
  fields: Partial<SyncRequest> = {},
) => post(`${bridge.url}/v1/sync`, instance.credential, syncBody(fields))

export interface SeededRun {
  deploymentId: string
  epoch: number
  sourceId: string
  targetIds: string[]
}

export interface RunOptions {
  instanceId: string
  slot?: number
  targets?: number
  actions?: number
  maxRetries?: number
  /** The new run has the source and the targets of this run. */
  like?: Pick<SeededRun, 'sourceId' | 'targetIds'>
  strategies?: { failure_strategy?: FailureStrategy; rollback_strategy?: RollbackStrategy }
}

/** A running deployment under a live lease, as the dispatcher leaves it, with its action and local targets. */
export async function seedRun(database: Database, options: RunOptions): Promise<SeededRun> {
  const { instanceId, slot = 0, targets = 2, actions = 2 } = options
  const deploymentId = uuidv7()
  const actionId = options.like?.sourceId ?? uuidv7()
  const targetIds = options.like?.targetIds ?? Array.from({ length: targets }, () => uuidv7())
  const head = {
    source: { type: 'action', id: actionId, name: 'release', version: '1.0.0' },
    tenant: null,
    environment: null,
    shared_variables: {},
    override_variables: {},
    sensitive: [],
    sealed_under: deploymentId,
    options: {
      target_mode: 'parallel',
      failure_strategy: 'stop_on_first_failure',
      rollback_strategy: 'none',
      priority: 0,
      timeout_seconds: 60,
      max_retries: 0,
      deployment_timeout_seconds: 0,
      bypass_cache: false,
      ...options.strategies,
    },
  }
  return database.transaction(async (tx) => {
    await tx.query(`INSERT INTO sources (id, kind, name) VALUES ($1, 'action', $2) ON CONFLICT DO NOTHING`, [
      actionId,
      actionId,
    ])
    const definition = { type: 'script', script: 'echo hello', env: { A: '1' }, rollback: { script: 'echo back' } }
    await tx.query(
      `INSERT INTO source_versions (source_id, version, definition) VALUES ($1, '1.0.0', $2) ON CONFLICT DO NOTHING`,
      [actionId, JSON.stringify(definition)],
    )
    await tx.query(
      `INSERT INTO targets (id, name, connection) SELECT id, id::text, '{"type":"local"}' FROM unnest($1::uuid[]) AS id
       ON CONFLICT DO NOTHING`,
      [targetIds],
    )
    await tx.query(
      `INSERT INTO deployments (id, state, source_type, source_id, source_name, source_version, plan_head, selection,
                                total_steps, started_at)
       VALUES ($1, 'running', 'action', $2, 'release', '1.0.0', $3, '{}', $4, now())`,
      [deploymentId, actionId, JSON.stringify(head), targetIds.length * actions],
    )
    await tx.query(
      `INSERT INTO deployment_actions (deployment_id, action_index, sequence_id, sequence_name, sequence_version,
         sequence_order, action_id, action_name, action_version, action_order, timeout_seconds, max_retries, has_rollback, variables)
       SELECT $1, n, $2, 'release', '1.0.0', 0, $2, 'release ' || n, '1.0.0', n, 60, $3, true, '{}'
       FROM generate_series(0, $4::int - 1) AS n`,
      [deploymentId, actionId, options.maxRetries ?? 0, actions],
    )
    await tx.query(
      `INSERT INTO deployment_targets (deployment_id, target_index, target_id, target_name, variables)
       SELECT $1, n - 1, id, 'target ' || (n - 1), '{}' FROM unnest($2::uuid[]) WITH ORDINALITY AS t (id, n)`,
      [deploymentId, targetIds],
    )
    await tx.query(
      `INSERT INTO steps (deployment_id, target_index, action_index)
       SELECT $1, t, a FROM generate_series(0, $2::int - 1) AS t, generate_series(0, $3::int - 1) AS a`,
      [deploymentId, targetIds.length, actions],
    )
    const epoch = await lease(tx, { deploymentId, instanceId, slot })
    return { deploymentId, epoch, sourceId: actionId, targetIds }
  })
}

export async function lease(
  db: Pick<Database, 'query'>,
  run: { deploymentId: string; instanceId: string; slot: number },
): Promise<number> {
  const { rows } = await db.query<{ epoch: number }>(
    'INSERT INTO leases (instance_id, slot, deployment_id) VALUES ($1, $2, $3) RETURNING epoch',
    [run.instanceId, run.slot, run.deploymentId],
  )
  return rows[0]?.epoch ?? 0
}

export const endLease = (database: Database, epoch: number) =>
  database.query(`UPDATE leases SET ended_at = now(), end_reason = 'test' WHERE epoch = $1`, [epoch])
