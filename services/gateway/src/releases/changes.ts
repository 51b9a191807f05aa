import type { Queryable, RowOf } from '@slipway/database'
import { readComparedPlans } from '@slipway/database/read-models'
import { comparedDeployments, isUuid, notFound, type ReplacedTarget, replacements } from '@slipway/domain'
import type { Answer } from '@slipway/http'
import type { Call } from '../handler.ts'
import { findReplaced } from './changes.sql.ts'

/** Answers with what a deployment replaces, and how its plan differs from those of the replaced deployments. */
export async function getDeploymentChanges(
  db: Queryable,
  { caller: { tenant_id }, params }: Call<'getDeploymentChanges'>,
): Promise<Answer> {
  const id = (params['id'] ?? '').toLowerCase()
  const targets = isUuid(id) ? (await findReplaced.all(db, { id, tenant_id })).map(replacedTarget) : []
  const compared = [id, ...comparedDeployments(targets)].filter(isUuid)
  const plans = await readComparedPlans(db, compared, tenant_id)
  const plan = plans.get(id)
  if (plan === undefined) throw notFound('The deployment')
  return { status: 200, body: { replaces: replacements(targets, plan, plans) } }
}

function replacedTarget({ id, name, values_hash, ...row }: RowOf<typeof findReplaced>): ReplacedTarget {
  const { replaced_id, version, applied_at, applied_by, replaced_hash } = row
  const replaced = { version, applied_at, applied_by, values_hash: replaced_hash }
  return { id, name, values_hash, replaced: replaced_id === null ? null : { deployment_id: replaced_id, ...replaced } }
}
