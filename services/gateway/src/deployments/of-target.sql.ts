import { int4, int8, nullable, statement, text, uuid } from '@slipway/database'
import { jsonObject, SUMMARY, withProgress } from '@slipway/views'
import { ownSql, visibleSql } from '../tenancy/visibility.ts'

/** The target has the id or the number. No row if the viewer does not see it. */
export const findTarget = statement({
  name: 'gateway.deployments.find-target',
  parameters: { id: nullable(uuid), number: nullable(int4), tenant_id: nullable(uuid) },
  row: { id: uuid },
  sql: `SELECT t.id FROM targets t WHERE (t.id = :id OR t.number = :number) AND ${visibleSql('t')}`,
})

const NEWEST_FIRST = 'd.created_at DESC, d.id DESC'

/** A page of the deployments that include a target, newest first, with the total. */
export const findDeploymentsOfTarget = statement({
  name: 'gateway.deployments.of-target',
  parameters: { target_id: uuid, tenant_id: nullable(uuid), take: int8, skip: int8 },
  row: { total: int8, data: text },
  sql: `WITH found AS (
      SELECT d.id, d.created_at FROM deployment_targets t JOIN deployments d ON d.id = t.deployment_id
       WHERE t.target_id = :target_id AND ${ownSql('d')})
    SELECT (SELECT count(*) FROM found) AS total,
      (SELECT coalesce(json_agg(${jsonObject(SUMMARY)} ORDER BY ${NEWEST_FIRST}), '[]')::text
         FROM ${withProgress(`(SELECT * FROM deployments WHERE id IN (
           SELECT d.id FROM found d ORDER BY ${NEWEST_FIRST} LIMIT :take OFFSET :skip))`)}) AS data`,
})
