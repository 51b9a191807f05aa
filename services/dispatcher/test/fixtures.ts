import type { CommandBody } from '@slipway/contracts'
import { type Database, deriveParts, rankOf } from '@slipway/database'
import { KeyRing, SLIPWAY_VERSION, uuidv7 } from '@slipway/runtime'
import { addAdmin, databaseAs, testLogger as logger } from '@slipway/testing'
import { createStarter, type StartDeployment } from '../src/dispatch/starter.ts'
import type { QueueSettings } from '../src/pending/settings.ts'

type StartCommand = CommandBody<'deployment.start'>

export const keys = KeyRing.parse(`test:${Buffer.alloc(32, 7).toString('base64')}`)

/** The limit for tenants is off; analyses are on. */
export const queue: QueueSettings = {
  tenant_running_limit: null,
  analysis_enabled: true,
  target_concurrency: 'allow',
}

export const ADMIN: StartCommand['caller'] = {
  user_id: uuidv7(),
  username: 'ada',
  tenant_id: null,
  may_override_freezes: true,
  ip: '127.0.0.1',
}

/** An instance that has joined and has a fresh heartbeat. */
export async function addInstance(database: Database, capacity: number, version = SLIPWAY_VERSION): Promise<string> {
  const id = uuidv7()
  await database.query(
    `INSERT INTO instances (id, name, version, capacity, credential_hash, last_heartbeat_at)
     VALUES ($1, $2, $3, $4, '', now())`,
    [id, `instance-${id}`, version, capacity],
  )
  await database.query('INSERT INTO instance_slots (instance_id, slot) SELECT $1, generate_series(0, $2 - 1)', [
    id,
    capacity,
  ])
  return id
}

export async function loseInstance(database: Database, id: string): Promise<void> {
  await database.query(`UPDATE instances SET last_heartbeat_at = now() - interval '31 seconds' WHERE id = $1`, [id])
}

export interface Catalog {
  action_id: string
  target_ids: string[]
  tenant_id: string
}

/** An action of version 1.0.0, two shared targets, a tenant, and the administrator who asks for deployments. */
export async function addCatalog(database: Database): Promise<Catalog> {
  const action_id = uuidv7()
  const tenant_id = uuidv7()
  await addAdmin(database, ADMIN.user_id, ADMIN.username)
  await database.query(`INSERT INTO tenants (id, name, slug, updated_at) VALUES ($1, $2, $2, now())`, [
    tenant_id,
    `t-${tenant_id}`,
  ])
  await database.query(`INSERT INTO sources (id, kind, name, updated_at) VALUES ($1, 'action', $2, now())`, [
    action_id,
    `action-${action_id}`,
  ])
  await database.query(
    `INSERT INTO source_versions (source_id, version, definition) VALUES ($1, '1.0.0', '{"type":"script","script":"true"}')`,
    [action_id],
  )
  const target_ids = [uuidv7(), uuidv7()]
  for (const id of target_ids) {
    await database.query(
      `INSERT INTO targets (id, name, connection, updated_at) VALUES ($1, $2, '{"type":"local"}', now())`,
      [id, `target-${id}`],
    )
  }
  return { action_id, target_ids, tenant_id }
}

export interface CommandOptions {
  priority?: number
  max_retries?: number
  deployment_timeout_seconds?: number
  tenant?: boolean
  caller?: StartCommand['caller']
  freeze_override?: StartCommand['freeze_override']
  rules_override?: StartCommand['rules_override']
  start_at?: string
  expires_at?: string
  /** The labels that the instance needs. */
  selector?: StartCommand['plan']['instance_selector']
}

/** One action three times in a row on the catalog's two targets: six steps. */
export function startCommand(catalog: Catalog, options: CommandOptions = {}): StartCommand {
  const { priority = 0, max_retries = 0, deployment_timeout_seconds = 0 } = options
  const command_id = uuidv7()
  const action = (action_order: number) => ({
    sequence_id: catalog.action_id,
    sequence_name: 'release',
    sequence_version: '1.0.0',
    sequence_order: 0,
    action_id: catalog.action_id,
    action_name: `step ${action_order}`,
    action_version: '1.0.0',
    action_order,
    timeout_seconds: 60,
    max_retries,
    has_rollback: false,
    variables: { colour: 'blue' },
  })
  return {
    command_id,
    caller: options.caller ?? ADMIN,
    plan: {
      source: { type: 'action', id: catalog.action_id, name: 'release', version: '1.0.0' },
      tenant: options.tenant ? { id: catalog.tenant_id, name: 'acme' } : null,
      environment: null,
      actions: [action(0), action(1), action(2)],
      targets: catalog.target_ids.map((id) => ({ id, name: `target-${id}`, variables: { port: 1 } })),
      shared_variables: {},
      override_variables: { release: 'r1' },
      sensitive: [],
      sealed_under: command_id,
      options: {
        target_mode: 'sequential',
        failure_strategy: 'stop_on_first_failure',
        rollback_strategy: 'none',
        priority,
        timeout_seconds: 60,
        max_retries,
        deployment_timeout_seconds,
        bypass_cache: false,
      },
      ...(options.selector === undefined ? {} : { instance_selector: options.selector }),
    },
    selection: {
      target_ids: catalog.target_ids,
      target_tags: [],
      target_tags_match_all: false,
      version_requirement: null,
    },
    warnings: [],
    source_deployment_id: null,
    freeze_override: options.freeze_override ?? null,
    rules_override: options.rules_override ?? null,
    start_at: options.start_at ?? null,
    expires_at: options.expires_at ?? null,
    plan_hash: 'p1.test',
  }
}

export interface DeploymentRow {
  id: string
  state: string
  error_message: string | null
  cancelled_by: string | null
  cancel_reason: string | null
  total_steps: number
  request_id: string | null
  plan_head: Record<string, unknown>
  source_deployment_id: string | null
}

export async function deployment(database: Database, id: string): Promise<DeploymentRow> {
  const { rows } = await database.query<DeploymentRow>('SELECT * FROM deployments WHERE id = $1', [id])
  if (!rows[0]) throw new Error(`There is no deployment ${id}`)
  return rows[0]
}

export async function states(database: Database, id: string): Promise<string[]> {
  const { rows } = await database.query<{ to_state: string }>(
    'SELECT to_state FROM deployment_transitions WHERE deployment_id = $1 ORDER BY number',
    [id],
  )
  return rows.map(({ to_state }) => to_state)
}

export async function liveLease(
  database: Database,
  id: string,
): Promise<{ epoch: number; instance_id: string } | null> {
  const { rows } = await database.query<{ epoch: number; instance_id: string }>(
    'SELECT epoch, instance_id FROM leases WHERE deployment_id = $1 AND ended_at IS NULL',
    [id],
  )
  return rows[0] ?? null
}

export async function stepStates(database: Database, id: string): Promise<string[]> {
  const { rows } = await database.query<{ state: string }>(
    'SELECT state FROM steps WHERE deployment_id = $1 ORDER BY target_index, action_index',
    [id],
  )
  return rows.map(({ state }) => state)
}

export async function setStep(database: Database, id: string, place: [number, number], state: string, retryCount = 0) {
  await database.query(
    `UPDATE steps SET state = $4::step_state, retry_count = $5, started_at = now()
      WHERE deployment_id = $1 AND target_index = $2 AND action_index = $3`,
    [id, ...place, state, retryCount],
  )
  await database.transaction((tx) => deriveParts(tx, [id]))
}

/** The types of the messages about a record in the outbox, in order. */
export async function outbox(database: Database, id: string): Promise<string[]> {
  const { rows } = await database.query<{ type: string }>(
    `SELECT type FROM outbox WHERE body ->> 'deployment_id' = $1 OR body ->> 'pending_request_id' = $1
        OR body ->> 'instance_id' IN (SELECT instance_id::text FROM leases WHERE deployment_id::text = $1) ORDER BY id`,
    [id],
  )
  return rows.map(({ type }) => type)
}

/** In an order in which no row is left that refers to a deleted one. */
const CLEARED = [
  ...['target_locks', 'leases', 'instance_slots', 'run_progress', 'steps', 'pending_targets', 'pending_requests'],
  ...['deployment_transitions', 'deployment_targets', 'deployment_actions', 'deployments', 'instances'],
  ...['freezes', 'outbox'],
]

/**
 * Deletes all deployments, pending requests, instances, freezes and messages of earlier tests. TRUNCATE would take 50 times as
 * long, because these tables have many indexes.
 */
export const clear = (database: Database) => database.query(CLEARED.map((table) => `DELETE FROM ${table}`).join('; '))

/** Adds copies of a pending request, with another priority. They need no locks. */
export const copyRequest = (database: Database, id: string, { count, priority }: { count: number; priority: number }) =>
  database.query(
    `INSERT INTO pending_requests (id, priority, rank, tenant_id, source_type, source_id, source_name, source_version, target_count,
                                   step_count, first_targets, command, freeze_subject, freeze_key, instance_selector, pool_key, author_id)
     SELECT gen_random_uuid(), $3, ${rankOf('$3::int', 'queued_at')}, tenant_id, source_type, source_id, source_name, source_version,
            target_count, step_count, first_targets, command, freeze_subject, freeze_key, instance_selector, pool_key, author_id
       FROM pending_requests, generate_series(1, $2) WHERE id = $1`,
    [id, count, priority],
  )

/** Starts a deployment in a transaction of its own. */
export const startDeployment = (database: Database, ...[command, received]: Parameters<StartDeployment>) =>
  createStarter({ database: databaseAs(database, 'dispatcher'), logger })(command, received)
