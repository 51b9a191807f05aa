import { array, int4, jsonb, nullable, statement, text, uuid } from '@slipway/database'
import { visibleSql, visibleTenantsSql } from '@slipway/database/read-models'
import type { InstanceSelector } from '@slipway/domain'

/** The tenant by its id or number, if the caller may see it. */
export const findTenant = statement({
  name: 'planner.tenants.find',
  parameters: { tenant_id: nullable(uuid), ids: array(uuid), numbers: array(int4) },
  row: {
    ...{ id: uuid, name: text, variables_sealed: nullable(text), sensitive_variables: array(text) },
    instance_selector: jsonb<InstanceSelector>(),
  },
  sql: `SELECT id, name, variables_sealed, sensitive_variables, instance_selector FROM tenants
    WHERE (id = ANY (:ids::uuid[]) OR number = ANY (:numbers::int[]))
      AND ${visibleTenantsSql('tenants')}`,
})

/** The environments by id or number that the caller may see. */
export const findEnvironments = statement({
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
