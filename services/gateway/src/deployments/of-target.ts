import type { Queryable } from '@slipway/database'
import { notFound } from '@slipway/domain'
import type { Answer } from '@slipway/http'
import { recordFilter } from '../catalog/record-id.ts'
import type { Call } from '../handler.ts'
import { answerJsonPage, newestOrder } from '../pages.ts'
import { findDeploymentsOfTarget, findTarget } from './of-target.sql.ts'

/**
 * Answers one page of the deployments that include a target. A user of a tenant sees the tenant's deployments only, also those
 * to a shared target.
 */
export async function listTargetDeployments(
  db: Queryable,
  { caller: { tenant_id }, params, query }: Call<'listTargetDeployments'>,
): Promise<Answer> {
  const key = recordFilter('target', params['id'])
  const target = key && (await findTarget.first(db, { ...key, tenant_id }))
  if (target === null) throw notFound('The target')
  const { id: target_id } = target
  return answerJsonPage(query, newestOrder('target-deployments'), (slice) =>
    findDeploymentsOfTarget.one(db, { target_id, tenant_id, ...slice }),
  )
}
