import type { Database } from '@slipway/database'
import { uuidv7 } from '@slipway/runtime'

export interface DeploymentParts {
  id?: string
  tenant_id?: string | null
  state?: string
  source_type?: 'action' | 'sequence' | 'solution'
  source_name?: string
  targets?: number
  actions?: number
  source_deployment_id?: string
  warnings?: string[]
}

/** A deployment as the dispatcher writes it. Its action declares `token` sensitive. Returns its id. */
export async function addDeployment(database: Database, parts: DeploymentParts = {}): Promise<string> {
  const { id = uuidv7(), tenant_id = null, state = 'running', targets = 2, actions = 2 } = parts
  const { source_type = 'action', source_name = 'Release', source_deployment_id = null, warnings = [] } = parts
  const source = { type: source_type, id: uuidv7(), name: source_name, version: '1.2.0' }
  const final = ['success', 'failed', 'cancelled', 'rolled_back'].includes(state)
  const options = {
    target_mode: { rolling: { batch_size: 1 } },
    failure_strategy: 'stop_on_first_failure',
    rollback_strategy: 'none',
    priority: 5,
    timeout_seconds: 60,
    max_retries: 1,
    deployment_timeout_seconds: 0,
    bypass_cache: false,
  }
  const planHead = {
    source,
    tenant: null,
    environment: null,
    shared_variables: { region: 'eu' },
    override_variables: { token: { $sealed: 'v1.k1.abc' }, level: 3 },
    sensitive: ['token'],
    sealed_under: id,
    options,
  }
  const selection = {
    target_ids: [],
    target_tags: [{ key: 'role', value: 'web' }],
    target_tags_match_all: false,
    version_requirement: null,
  }
  await database.query(
    `INSERT INTO deployments (id, state, tenant_id, source_type, source_id, source_name, source_version, plan_head, selection,
       total_steps, triggered_by, started_at, completed_at, source_deployment_id, warnings)
     VALUES ($1, $2::deployment_state, $3, $4::source_kind, $5, $6, '1.2.0', $7, $8, $9, 'admin', now(),
       CASE WHEN $10 THEN now() + interval '1500 ms' END, $11, $12)`,
    [
      id,
      state,
      tenant_id,
      source_type,
      source.id,
      source_name,
      planHead,
      selection,
      targets * actions,
      final,
      source_deployment_id,
      JSON.stringify(warnings),
    ],
  )
  await database.query(
    `INSERT INTO deployment_targets (deployment_id, target_index, target_id, target_name, variables)
     SELECT $1, i, gen_random_uuid(), 'target-' || i, '{"own": true}' FROM generate_series(0, $2 - 1) i`,
    [id, targets],
  )
  await database.query(
    `INSERT INTO deployment_actions (deployment_id, action_index, sequence_id, sequence_name, sequence_version, sequence_order,
       action_id, action_name, action_version, action_order, timeout_seconds, max_retries, has_rollback, variables)
     SELECT $1, i, gen_random_uuid(), 'sequence', '1.0.0', 0, gen_random_uuid(), 'action-' || i, '1.0.0', i, 60, 0, false,
       jsonb_build_object('index', i)
     FROM generate_series(0, $2 - 1) i`,
    [id, actions],
  )
  await database.query(
    `INSERT INTO steps (deployment_id, target_index, action_index)
     SELECT $1, t, a FROM generate_series(0, $2 - 1) t, generate_series(0, $3 - 1) a`,
    [id, targets, actions],
  )
  return id
}

export interface PendingParts {
  id?: string
  tenant_id?: string | null
  tenant_name?: string
  status?: string
  priority?: number
  command?: object
  /** Requests of earlier releases have none of it. */
  source?: { type: string; id: string; name: string; version: string; targets: number }
}

export async function addPending(database: Database, parts: PendingParts = {}): Promise<string> {
  const { id = uuidv7(), tenant_id = null, tenant_name = null, status = 'pending', priority = 0, command = {} } = parts
  const { source } = parts
  await database.query(
    `INSERT INTO pending_requests (id, status, priority, tenant_id, tenant_name, triggered_by, command, queued_at,
       source_type, source_id, source_name, source_version, target_count)
     VALUES ($1, $2::pending_status, $3, $4, $5, 'admin', $6, clock_timestamp(), $7::source_kind, $8, $9, $10, $11)`,
    [
      ...[id, status, priority, tenant_id, tenant_name, command],
      ...[source?.type, source?.id, source?.name, source?.version, source?.targets],
    ],
  )
  return id
}
