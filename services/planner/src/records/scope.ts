import { array, int4, jsonb, nullable, type Queryable, statement, text, uuid } from '@slipway/database'
import { openVariables, type Viewer, visibleSql, visibleTenantsSql } from '@slipway/database/read-models'
import type { InstanceSelector, VariableValues } from '@slipway/domain'
import type { KeyRing } from '@slipway/runtime'
import { references } from './ids.ts'

/** The tenant by its id or number, if the caller may see it. */
const findTenant = statement({
  name: 'planner.tenants.find',
  parameters: { tenant_id: nullable(uuid), ids: array(uuid), numbers: array(int4) },
  row: {
    id: uuid,
    name: text,
    variables_sealed: nullable(text),
    sensitive_variables: array(text),
    instance_selector: jsonb<InstanceSelector>(),
  },
  sql: `SELECT id, name, variables_sealed, sensitive_variables, instance_selector FROM tenants
    WHERE (id = ANY (:ids::uuid[]) OR number = ANY (:numbers::int[]))
      AND ${visibleTenantsSql('tenants')}`,
})

/** The environments by id or number that the caller may see. */
const findEnvironments = statement({
  name: 'planner.environments.find',
  parameters: { tenant_id: nullable(uuid), ids: array(uuid), numbers: array(int4) },
  row: {
    id: uuid,
    name: text,
    tenant_id: nullable(uuid),
    variables_sealed: nullable(text),
    sensitive_variables: array(text),
    instance_selector: jsonb<InstanceSelector>(),
  },
  sql: `SELECT id, name, tenant_id, variables_sealed, sensitive_variables, instance_selector FROM environments
    WHERE (id = ANY (:ids::uuid[]) OR number = ANY (:numbers::int[])) AND ${visibleSql('environments')}`,
})

export interface TenantRecord {
  id: string
  name: string
  variables: VariableValues
  /** Names of variables with values that are never shown. */
  sensitive: readonly string[]
  instance_selector: InstanceSelector
}

export interface EnvironmentRecord extends TenantRecord {
  tenant_id: string | null
}

/** The tenant, by UUID or SqId; null if the caller sees no such tenant. */
export async function loadTenant(
  database: Queryable,
  keyRing: KeyRing,
  caller: Viewer,
  id: string,
): Promise<TenantRecord | null> {
  const { uuids, numbers } = references('tenant', [id])
  const row = await findTenant.first(database, { tenant_id: caller.tenant_id, ids: uuids, numbers })
  if (!row) return null
  const { values, sensitive } = openVariables(keyRing, 'tenant', row)
  return { id: row.id, name: row.name, variables: values, sensitive, instance_selector: row.instance_selector }
}

/** The environments, by UUID or SqId. Those that the caller does not see are left out. */
export async function loadEnvironments(
  database: Queryable,
  keyRing: KeyRing,
  caller: Viewer,
  ids: readonly string[],
): Promise<EnvironmentRecord[]> {
  if (ids.length === 0) return []
  const { uuids, numbers } = references('environment', ids)
  const rows = await findEnvironments.all(database, { tenant_id: caller.tenant_id, ids: uuids, numbers })
  return rows.map((row) => {
    const { id, name, tenant_id, instance_selector } = row
    const { values, sensitive } = openVariables(keyRing, 'environment', row)
    return { id, name, tenant_id, variables: values, sensitive, instance_selector }
  })
}
