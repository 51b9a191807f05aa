import { randomBytes } from 'node:crypto'
import type { CommandBody } from '@slipway/contracts'
import type { Database } from '@slipway/database'
import type { DefinitionSecrets, VariableValues } from '@slipway/domain'
import { KeyRing, SLIPWAY_VERSION, uuidv7 } from '@slipway/runtime'
import { readScript } from '@slipway/scripts'

export type StartCommand = CommandBody<'deployment.start'>
export type Request = CommandBody<'plan.create'>['request'] & {
  variables?: VariableValues
  prompted_values?: VariableValues
}

export const keyRing = KeyRing.parse(`test:${randomBytes(32).toString('base64')}`)
export const ADMIN: StartCommand['caller'] = {
  user_id: uuidv7(),
  username: 'ada',
  tenant_id: null,
  may_override_freezes: true,
  ip: '127.0.0.1',
}
export const OPERATOR: StartCommand['caller'] = {
  ...ADMIN,
  user_id: uuidv7(),
  username: 'olga',
  may_override_freezes: false,
  ip: '127.0.0.1',
}

interface SourceOptions {
  kind?: 'action' | 'sequence' | 'solution'
  name?: string
  tenant_id?: string | null
  versions?: Record<string, object>
  secrets?: Record<string, DefinitionSecrets>
}

export async function addSource(
  database: Database,
  options: SourceOptions = {},
): Promise<{ id: string; number: number }> {
  const { kind = 'action', tenant_id = null, secrets = {} } = options
  const { versions = { '1.0.0': { type: 'script', script: 'true' } } } = options
  const id = uuidv7()
  const { rows } = await database.query<{ number: number }>(
    `INSERT INTO sources (id, kind, name, tenant_id, updated_at) VALUES ($1, $2::source_kind, $3, $4, now()) RETURNING number`,
    [id, kind, options.name ?? `${kind}-${id}`, tenant_id],
  )
  for (const [version, definition] of Object.entries(versions)) {
    const sealed = secrets[version] ? keyRing.seal(JSON.stringify(secrets[version]), `source:${id}:${version}`) : null
    await database.query(
      'INSERT INTO source_versions (source_id, version, definition, secrets, templates) VALUES ($1, $2, $3, $4, $5)',
      [id, version, JSON.stringify(definition), sealed, JSON.stringify(await templatesOf(definition))],
    )
    await database.query(
      `INSERT INTO sensitive_names (source_id, name)
         SELECT $1, variable ->> 'name' FROM jsonb_array_elements($2::jsonb -> 'variables') AS variable
          WHERE variable -> 'sensitive' = 'true' ON CONFLICT DO NOTHING`,
      [id, JSON.stringify(definition)],
    )
  }
  return { id, number: rows[0]?.number ?? 0 }
}

/** What the gateway stores when it publishes an action. */
async function templatesOf(definition: { script?: string }): Promise<object | null> {
  if (definition.script === undefined) return null
  return { script: (await readScript(definition.script, 'sh')).template }
}

interface TargetOptions {
  name?: string
  tenant_id?: string | null
  environment_id?: string | null
  tags?: { key: string; value: string }[]
  enabled?: boolean
  variables?: VariableValues
  sensitive?: string[]
  connection?: object
}

export async function addTarget(
  database: Database,
  options: TargetOptions = {},
): Promise<{ id: string; number: number }> {
  const id = uuidv7()
  const { tenant_id = null, environment_id = null, tags = [], enabled = true, variables, sensitive = [] } = options
  const { rows } = await database.query<{ number: number }>(
    `INSERT INTO targets (id, name, tenant_id, environment_id, connection, enabled, variables_sealed,
                          sensitive_variables, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now()) RETURNING number`,
    [
      id,
      options.name ?? `target-${id}`,
      tenant_id,
      environment_id,
      JSON.stringify(options.connection ?? { type: 'local' }),
      enabled,
      variables ? keyRing.seal(JSON.stringify(variables), `target:${id}:variables`) : null,
      sensitive,
    ],
  )
  for (const { key, value } of tags) {
    await database.query('INSERT INTO target_tags (target_id, key, value) VALUES ($1, $2, $3)', [id, key, value])
  }
  return { id, number: rows[0]?.number ?? 0 }
}

export async function addTenant(
  database: Database,
  variables: VariableValues = {},
  sensitive: string[] = [],
): Promise<string> {
  const id = uuidv7()
  const sealed = keyRing.seal(JSON.stringify(variables), `tenant:${id}:variables`)
  await database.query(
    `INSERT INTO tenants (id, name, slug, variables_sealed, sensitive_variables, updated_at)
     VALUES ($1, $2, $2, $3, $4, now())`,
    [id, `tenant-${id}`, sealed, sensitive],
  )
  return id
}

export async function addEnvironment(
  database: Database,
  tenantId: string | null = null,
  variables: VariableValues = {},
  sensitive: string[] = [],
): Promise<string> {
  const id = uuidv7()
  const sealed = keyRing.seal(JSON.stringify(variables), `environment:${id}:variables`)
  await database.query(
    `INSERT INTO environments (id, name, tenant_id, variables_sealed, sensitive_variables, updated_at)
     VALUES ($1, $2, $3, $4, $5, now())`,
    [id, `environment-${id}`, tenantId, sealed, sensitive],
  )
  return id
}

export async function addFreeze(
  database: Database,
  scope: {
    tenant_id?: string
    environment_id?: string
    solution_id?: string
    days_ago?: number
    recurrence?: string
  } = {},
): Promise<string> {
  const id = uuidv7()
  const { tenant_id = null, environment_id = null, solution_id = null, days_ago = 0, recurrence = null } = scope
  await database.query(
    `INSERT INTO freezes (id, name, start_time, end_time, tenant_id, solution_id, recurrence, environment_id, start_offset, updated_at)
     SELECT $1, $2, first - interval '1 hour', first + interval '1 hour', $3, $4, $6, $7, '+02:00', now()
     FROM (SELECT now() - make_interval(days => $5) AS first) f`,
    [id, `freeze-${id}`, tenant_id, solution_id, days_ago, recurrence, environment_id],
  )
  return id
}

export async function heartbeat(database: Database, ageSeconds: number): Promise<void> {
  await database.query(
    `INSERT INTO instances (id, name, version, capacity, credential_hash, last_heartbeat_at)
     VALUES ($1, 'one', '${SLIPWAY_VERSION}', 1, '', now() - make_interval(secs => $2))
     ON CONFLICT (name) DO UPDATE SET last_heartbeat_at = EXCLUDED.last_heartbeat_at`,
    [uuidv7(), ageSeconds],
  )
}

/** Stores a started deployment like the dispatcher, from its command. */
export async function storeDeployment(
  database: Database,
  command: StartCommand,
  failedTargets: number[] = [],
): Promise<void> {
  const { actions, targets, ...head } = command.plan
  const id = command.command_id
  await database.query(
    `INSERT INTO deployments (id, state, tenant_id, source_type, source_id, source_name, source_version, plan_head,
                              selection, total_steps, triggered_by_id)
     VALUES ($1, 'running', $2, $3::source_kind, $4, $5, $6, $7, $8, 1, $9)`,
    [
      id,
      head.tenant?.id ?? null,
      head.source.type,
      head.source.id,
      head.source.name,
      head.source.version,
      JSON.stringify(head),
      JSON.stringify(command.selection),
      command.caller.user_id,
    ],
  )
  for (const [index, action] of actions.entries()) {
    await database.query(
      `INSERT INTO deployment_actions SELECT $1, $2, a.sequence_id, a.sequence_name, a.sequence_version, a.sequence_order,
         a.action_id, a.action_name, a.action_version, a.action_order, a.timeout_seconds, a.max_retries, a.has_rollback, a.variables
         FROM jsonb_populate_record(NULL::deployment_actions, $3::jsonb) a`,
      [id, index, JSON.stringify(action)],
    )
  }
  for (const [index, target] of targets.entries()) {
    await database.query('INSERT INTO deployment_targets VALUES ($1, $2, $3, $4, $5, $6)', [
      id,
      index,
      target.id,
      target.name,
      '{}',
      target.values_hash,
    ])
    await database.query(
      `INSERT INTO steps (deployment_id, target_index, action_index, state, ever_failed) VALUES ($1, $2, 0, $3::step_state, $4)`,
      [id, index, failedTargets.includes(index) ? 'rolled_back' : 'completed', failedTargets.includes(index)],
    )
  }
}
