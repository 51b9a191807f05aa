import { statement } from '../sql/statement.ts'
import { array, bool, int4, json, jsonb, nullable, targetConcurrency, text, timestamptz, uuid } from '../sql/types.ts'
import { SUMMARY, withProgress } from './deployments.ts'
import { INSTANCE } from './instances.ts'
import { jsonObject } from './json.ts'
import { RELEASE } from './releases.ts'

export interface Item {
  id: string
  tenant_id?: string | null
}

const parameters = { ids: array(uuid) }
const row = { item: json<Item>() }

export const findDeploymentItems = statement({
  name: 'database.items.find-deployments',
  parameters,
  row,
  sql: `SELECT ${jsonObject(SUMMARY)} AS item FROM ${withProgress('deployments')} WHERE d.id = ANY (:ids) AND NOT d.is_check`,
})

export const findInstanceItems = statement({
  name: 'database.items.find-instances',
  parameters,
  row,
  sql: `SELECT ${INSTANCE} AS item FROM instances i WHERE i.id = ANY (:ids) AND i.removed_at IS NULL`,
})

/** What is in force on targets, with what checks found there. */
export const findReleaseItems = statement({
  name: 'database.items.find-releases',
  parameters,
  row,
  sql: `SELECT ${RELEASE} AS item FROM release_checks k
      JOIN release_heads h ON h.target_id = k.target_id AND h.source_id = k.source_id
      JOIN releases r ON r.deployment_id = h.current_deployment_id AND r.target_id = h.target_id
      JOIN targets t ON t.id = h.target_id
      LEFT JOIN sources s ON s.id = h.source_id
     WHERE k.id = ANY (:ids)`,
})

export const findFreezes = statement({
  name: 'database.items.find-freezes',
  parameters,
  row: {
    id: uuid,
    name: text,
    description: nullable(text),
    start_time: timestamptz,
    end_time: timestamptz,
    recurrence: nullable(text),
    start_offset: nullable(text),
    time_zone: nullable(text),
    tenant_id: nullable(uuid),
    environment_id: nullable(uuid),
    solution_id: nullable(uuid),
    created_by: nullable(text),
    managed_by: nullable(text),
    created_at: timestamptz,
    updated_at: timestamptz,
  },
  sql: `SELECT id, name, description, start_time, end_time, recurrence, start_offset, time_zone, tenant_id,
       environment_id, solution_id, created_by, managed_by, created_at, updated_at
      FROM freezes WHERE id = ANY (:ids)`,
})

/** Without the secrets of the connection: services that show targets have no right to read them. */
export const findTargets = statement({
  name: 'database.items.find-targets',
  parameters,
  row: {
    id: uuid,
    number: int4,
    name: text,
    description: nullable(text),
    tenant_id: nullable(uuid),
    environment_id: nullable(uuid),
    connection: jsonb<unknown>(),
    instance_selector: jsonb<unknown>(),
    variables_sealed: nullable(text),
    sensitive_variables: array(text),
    enabled: bool,
    concurrency: nullable(targetConcurrency),
    managed_by: nullable(text),
    created_at: timestamptz,
    updated_at: timestamptz,
    tags: json<{ key: string; value: string }[]>(),
  },
  sql: `SELECT t.id, t.number, t.name, t.description, t.tenant_id, t.environment_id, t.connection, t.variables_sealed,
       t.sensitive_variables, t.instance_selector, t.enabled, t.concurrency, t.managed_by, t.created_at, t.updated_at,
       coalesce((SELECT json_agg(json_build_object('key', g.key, 'value', g.value) ORDER BY g.key, g.value)
                   FROM target_tags g WHERE g.target_id = t.id), '[]') AS tags
      FROM targets t WHERE t.id = ANY (:ids)`,
})
