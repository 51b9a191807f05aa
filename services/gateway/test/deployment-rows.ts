import { type Database, deriveParts, type Queryable } from '@slipway/database'
import { variantOf } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'

export interface DeploymentParts {
  id?: string
  tenant_id?: string | null
  state?: string
  source_type?: 'action' | 'sequence' | 'solution'
  source_id?: string
  source_name?: string
  source_version?: string
  environment_id?: string | null
  triggered_by?: string
  override_variables?: Record<string, unknown>
  targets?: number
  /** Replaces the unknown targets that `targets` counts. */
  target_ids?: string[]
  values_hash?: string | null
  actions?: number
  action_version?: string
  source_deployment_id?: string
  warnings?: string[]
}

/** Inserts a deployment like the dispatcher and returns its id. The action declares `token` sensitive. */
export async function addDeployment(database: Queryable, parts: DeploymentParts = {}): Promise<string> {
  const { id = uuidv7(), tenant_id = null, state = 'running', targets = 2, actions = 2 } = parts
  const { target_ids = Array.from({ length: targets }, () => uuidv7()), values_hash = null } = parts
  const { action_version = '1.0.0' } = parts
  const { source_id = uuidv7(), source_version = '1.2.0', environment_id = null, triggered_by = 'admin' } = parts
  const { override_variables = { token: { $sealed: 'v1.k1.abc' }, level: 3 } } = parts
  const { source_type = 'action', source_name = 'Release', source_deployment_id = null, warnings = [] } = parts
  const source = { type: source_type, id: source_id, name: source_name, version: source_version }
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
    override_variables,
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
       total_steps, triggered_by, started_at, completed_at, source_deployment_id, warnings, environment_id, variant)
     VALUES ($1, $2::deployment_state, $3, $4::source_kind, $5, $6, $7, $8, $9, $10, $11, now(),
       CASE WHEN $12 THEN now() + interval '1500 ms' END, $13, $14, $15, $16)`,
    [
      id,
      state,
      tenant_id,
      source_type,
      source.id,
      source_name,
      source_version,
      planHead,
      selection,
      target_ids.length * actions,
      triggered_by,
      final,
      source_deployment_id,
      JSON.stringify(warnings),
      environment_id,
      variantOf(source, [{ sequence_id: source_id, sequence_version: '', action_id: source_id, action_version }]),
    ],
  )
  await countDeployments(database, [id])
  await database.query(
    `INSERT INTO deployment_targets (deployment_id, target_index, target_id, target_name, variables, values_hash)
     SELECT $1, place - 1, target_id, 'target-' || place - 1, '{"own": true}', $3
       FROM unnest($2::uuid[]) WITH ORDINALITY AS given (target_id, place)`,
    [id, target_ids, values_hash],
  )
  await database.query(
    `INSERT INTO deployment_actions (deployment_id, action_index, sequence_id, sequence_name, sequence_version, sequence_order,
       action_id, action_name, action_version, action_order, timeout_seconds, max_retries, has_rollback, variables)
     SELECT $1, i, md5($3)::uuid, 'sequence', '1.0.0', 0, md5($3 || i)::uuid, 'action-' || i, $4, i, 60, 0, false,
       jsonb_build_object('index', i)
     FROM generate_series(0, $2 - 1) i`,
    [id, actions, source_id, action_version],
  )
  await database.query(
    `INSERT INTO steps (deployment_id, target_index, action_index)
     SELECT $1, t, a FROM generate_series(0, $2 - 1) t, generate_series(0, $3 - 1) a`,
    [id, target_ids.length, actions],
  )
  return id
}

/** Adds deployments to the counts of lists and their names to the search, like the dispatcher. */
export async function countDeployments(database: Queryable, ids: readonly string[]) {
  await database.query(
    `INSERT INTO deployment_counts (tenant_id, environment_id, source_type, state, count)
     SELECT tenant_id, environment_id, source_type, state, count(*) FROM deployments WHERE id = ANY ($1) GROUP BY 1, 2, 3, 4`,
    [ids],
  )
  await database.query(
    `INSERT INTO deployment_names (tenant_id, source_name)
     SELECT DISTINCT tenant_id, source_name FROM deployments WHERE id = ANY ($1) ON CONFLICT DO NOTHING`,
    [ids],
  )
}

/** Writes steps on all targets and their releases, like the executor-bridge. */
export async function execute(database: Database, id: string, outcome: 'running' | 'completed' | 'failed') {
  await database.query(
    `UPDATE steps SET state = $2::step_state, started_at = clock_timestamp(),
            completed_at = CASE WHEN $2 <> 'running' THEN clock_timestamp() END
      WHERE deployment_id = $1`,
    [id, outcome],
  )
  await database.transaction((tx) => deriveParts(tx, [id]))
}
