import type { ComparedPlan, PlanHead, PlannedActionRow } from '@slipway/domain'
import { type Queryable, statement } from '../sql/statement.ts'
import { array, json, jsonb, nullable, uuid } from '../sql/types.ts'
import { ownSql } from './visibility.ts'

/** The plans of deployments, without targets. Without a tenant: those of all tenants. */
const findPlans = statement({
  name: 'database.compared-plans.find',
  parameters: { ids: array(uuid), tenant_id: nullable(uuid) },
  row: { id: uuid, plan_head: jsonb<PlanHead>(), actions: json<PlannedActionRow[]>() },
  sql: `SELECT d.id, d.plan_head, (SELECT coalesce(json_agg(a ORDER BY a.action_index), '[]')
               FROM deployment_actions a WHERE a.deployment_id = d.id) AS actions
      FROM deployments d WHERE d.id = ANY (:ids) AND ${ownSql('d')}`,
})

/** The plans of deployments by id, without those that retention has deleted or that this tenant does not own. */
export async function readComparedPlans(
  db: Queryable,
  ids: readonly string[],
  tenantId: string | null,
): Promise<Map<string, ComparedPlan>> {
  if (ids.length === 0) return new Map()
  const plans = await findPlans.all(db, { ids, tenant_id: tenantId })
  return new Map(plans.map(({ id, plan_head, actions }) => [id, { ...plan_head, actions }]))
}
