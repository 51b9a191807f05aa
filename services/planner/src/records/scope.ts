import type { Queryable } from '@slipway/database'
import type { VariableValues } from '@slipway/domain'
import type { KeyRing } from '@slipway/runtime'
import { openVariables, type StoredVariables } from '@slipway/views'
import { references } from './ids.ts'
import { type Caller, visible } from './visibility.ts'

export interface TenantRecord {
  id: string
  name: string
  variables: VariableValues
  /** Names of variables whose values are never shown. */
  sensitive: readonly string[]
}

export interface EnvironmentRecord extends TenantRecord {
  tenant_id: string | null
}

interface Row extends StoredVariables {
  name: string
  tenant_id: string | null
}

/** The tenant, by UUID or SqId; null when there is none that the caller may see. */
export async function loadTenant(
  database: Queryable,
  keyRing: KeyRing,
  caller: Caller,
  id: string,
): Promise<TenantRecord | null> {
  const { uuids, numbers } = references('tenant', [id])
  const { rows } = await database.query<Row>(
    `SELECT id, name, variables_sealed, sensitive_variables FROM tenants t
      WHERE (t.id = ANY($2::uuid[]) OR t.number = ANY($3::int[])) AND ($1::uuid IS NULL OR t.id = $1::uuid)`,
    [caller.tenant_id, uuids, numbers],
  )
  const [row] = rows
  if (!row) return null
  const { values, sensitive } = openVariables(keyRing, 'tenant', row)
  return { id: row.id, name: row.name, variables: values, sensitive }
}

/** The environment, by UUID or SqId; null when there is none that the caller may see. */
export async function loadEnvironment(
  database: Queryable,
  keyRing: KeyRing,
  caller: Caller,
  id: string,
): Promise<EnvironmentRecord | null> {
  const { uuids, numbers } = references('environment', [id])
  const { rows } = await database.query<Row>(
    `SELECT id, name, tenant_id, variables_sealed, sensitive_variables FROM environments e
      WHERE (e.id = ANY($2::uuid[]) OR e.number = ANY($3::int[])) AND ${visible('e.tenant_id', '$1')}`,
    [caller.tenant_id, uuids, numbers],
  )
  const [row] = rows
  if (!row) return null
  const { id: uuid, name, tenant_id } = row
  const { values, sensitive } = openVariables(keyRing, 'environment', row)
  return { id: uuid, name, tenant_id, variables: values, sensitive }
}
