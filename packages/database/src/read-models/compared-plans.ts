import type { ComparedPlan } from '@slipway/domain'
import type { Queryable } from '../queryable.ts'
import { findPlans } from './compared-plans.sql.ts'

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
