import type { Queryable } from '@slipway/database'
import { type ComparedPlan, isUuid, notFound, planDifference } from '@slipway/domain'
import type { Answer, Call } from '../http/handler.ts'
import type { Viewer } from '../tenancy/visibility.ts'
import { findPlans, findReplaced } from './changes.sql.ts'

/** A plan may be large, so only the groups with the most targets are compared. */
const MOST_COMPARED = 20

/** Answers with what a deployment replaces, and how its plan differs from those of the replaced deployments. */
export async function getDeploymentChanges(
  db: Queryable,
  { caller, params }: Call<'getDeploymentChanges'>,
): Promise<Answer> {
  const id = (params['id'] ?? '').toLowerCase()
  const found = isUuid(id) ? await findReplaced.first(db, { id, tenant_id: caller.tenant_id }) : null
  if (found === null) throw notFound('The deployment')
  const compared = found.replaces.flatMap(({ deployment_id }) => deployment_id ?? []).slice(0, MOST_COMPARED)
  const plans = compared.length === 0 ? new Map<string, ComparedPlan>() : await readPlans(db, caller, [id, ...compared])
  const after = plans.get(id)
  const differenceTo = (before: ComparedPlan | undefined) =>
    before === undefined || after === undefined ? null : planDifference(before, after)
  const replaces = found.replaces.map((replaced) => ({
    ...replaced,
    difference: differenceTo(plans.get(replaced.deployment_id ?? '')),
  }))
  return { status: 200, body: { replaces } }
}

/** The plans by id of the deployment, without those that retention has deleted. */
async function readPlans(db: Queryable, { tenant_id }: Viewer, ids: string[]): Promise<Map<string, ComparedPlan>> {
  const rows = await findPlans.all(db, { ids, tenant_id })
  return new Map(rows.map(({ id, plan_head, actions }) => [id, { ...plan_head, actions }]))
}
