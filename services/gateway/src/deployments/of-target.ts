import { int4, int8, nullable, type Queryable, statement, text, uuid } from '@slipway/database'
import { jsonObject, ownSql, SUMMARY, visibleSql, withProgress } from '@slipway/database/read-models'
import { notFound } from '@slipway/domain'
import type { Answer } from '@slipway/http'
import type { Call } from '../handler.ts'
import { afterNewerSql, pageColumns } from '../pages.sql.ts'
import { answerJsonPage, newestOrder } from '../pages.ts'
import { recordFilter } from '../records/filters.ts'

/** The target has the id or the number. No row if the viewer does not see it. */
export const findTarget = statement({
  name: 'gateway.deployments.find-target',
  parameters: { id: nullable(uuid), number: nullable(int4), tenant_id: nullable(uuid) },
  row: { id: uuid },
  sql: `SELECT t.id FROM targets t WHERE (t.id = :id OR t.number = :number) AND ${visibleSql('t')}`,
})

const NEWEST_FIRST = 'd.created_at DESC, d.id DESC'

const TARGET_STEPS = `(SELECT ${jsonObject({
  total: 'count(*)',
  completed: `count(*) FILTER (WHERE s.state = 'completed')`,
  failed: 'count(*) FILTER (WHERE s.ever_failed)',
})} FROM steps s WHERE s.deployment_id = d.id AND s.target_index = d.target_index)`
const ITEM = jsonObject({ ...SUMMARY, target_steps: TARGET_STEPS })

/** A page of the deployments that include a target, newest first, with the total. */
const findDeploymentsOfTarget = statement({
  name: 'gateway.deployments.of-target',
  parameters: { target_id: uuid, tenant_id: nullable(uuid), ...pageColumns },
  row: { total: int8, data: text },
  sql: `WITH found AS (
      SELECT d.id, d.created_at, t.target_index
        FROM deployment_targets t JOIN deployments d ON d.id = t.deployment_id
       WHERE t.target_id = :target_id AND NOT d.is_check AND ${ownSql('d')}),
    page AS (SELECT d.id, d.target_index FROM found d WHERE ${afterNewerSql('d')} ORDER BY ${NEWEST_FIRST} LIMIT :take OFFSET :skip)
    SELECT (SELECT count(*) FROM found) AS total,
      (SELECT coalesce(json_agg(${ITEM} ORDER BY ${NEWEST_FIRST}), '[]')::text
         FROM ${withProgress('(SELECT d.*, f.target_index FROM page f JOIN deployments d ON d.id = f.id)')}) AS data`,
})

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
