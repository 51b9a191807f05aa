import { nullable, type Queryable, type RowOf, statement, text, timestamptz, uuid } from '@slipway/database'
import { ownSql, readComparedPlans } from '@slipway/database/read-models'
import { comparedDeployments, isUuid, notFound, type ReplacedTarget, replacements } from '@slipway/domain'
import type { Answer } from '@slipway/http'
import type { Call } from '../handler.ts'
import { joinReplaced, replacedId } from './installed.sql.ts'

/**
 * The targets of a deployment, each with what the deployment replaced there or, before its first command, with what is in force.
 * No row if the viewer does not see the deployment.
 */
const findReplaced = statement({
  name: 'gateway.releases.find-replaced',
  parameters: { id: uuid, tenant_id: nullable(uuid) },
  row: {
    id: uuid,
    name: text,
    values_hash: nullable(text),
    replaced_id: nullable(uuid),
    version: nullable(text),
    applied_at: nullable(timestamptz),
    applied_by: nullable(text),
    replaced_hash: nullable(text),
  },
  sql: `SELECT a.target_id AS id, a.target_name AS name, a.values_hash, ${replacedId('a')} AS replaced_id,
           b.source_version AS version, CASE WHEN b.state = 'applied' THEN b.ended_at END AS applied_at,
           b.triggered_by AS applied_by, b.values_hash AS replaced_hash
      FROM (
        SELECT t.target_index, t.target_id, t.target_name, t.values_hash,
               CASE WHEN r.deployment_id IS NULL THEN h.current_deployment_id ELSE r.replaced_deployment_id END AS before_id
          FROM deployments d
          JOIN deployment_targets t ON t.deployment_id = d.id
          LEFT JOIN releases r ON r.deployment_id = t.deployment_id AND r.target_id = t.target_id
          LEFT JOIN release_heads h ON h.target_id = t.target_id AND h.source_id = d.source_id
         WHERE d.id = :id AND ${ownSql('d')}) a
      ${joinReplaced('a')} ORDER BY a.target_index`,
})

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
