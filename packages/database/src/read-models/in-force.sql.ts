import { statement } from '../sql/statement.ts'
import { array, bool, nullable, text, timestamptz, uuid } from '../sql/types.ts'
import { ownSql } from './visibility.ts'

/**
 * What is in force of a source on these targets. `is_latest` is false if a later deployment began there and was not applied, `has_drifted`
 * if a check found the target changed.
 * Releases of other tenants on shared targets are not found.
 */
export const findInForce = statement({
  name: 'read-models.releases.find-in-force',
  parameters: { source_id: uuid, target_ids: array(uuid), tenant_id: nullable(uuid) },
  row: {
    target_id: uuid,
    deployment_id: uuid,
    version: text,
    applied_at: timestamptz,
    applied_by: nullable(text),
    values_hash: nullable(text),
    triggered_by_id: nullable(uuid),
    is_latest: bool,
    has_drifted: bool,
  },
  sql: `SELECT h.target_id, c.deployment_id, c.source_version AS version, c.ended_at AS applied_at,
           c.triggered_by AS applied_by, c.values_hash, d.triggered_by_id, coalesce(l.state = 'applied', true) AS is_latest,
           k.drifted_since IS NOT NULL AS has_drifted
      FROM release_heads h
      JOIN releases c ON c.deployment_id = h.current_deployment_id AND c.target_id = h.target_id AND ${ownSql('c')}
      JOIN deployments d ON d.id = c.deployment_id
      LEFT JOIN releases l ON l.deployment_id = h.latest_deployment_id AND l.target_id = h.target_id
      LEFT JOIN release_checks k ON k.target_id = h.target_id AND k.source_id = h.source_id
     WHERE h.source_id = :source_id AND h.target_id = ANY (:target_ids)`,
})
