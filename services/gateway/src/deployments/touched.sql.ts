import { array, nullable, sourceKind, statement, uuid } from '@slipway/database'
import { ownSql } from '@slipway/database/read-models'
import { ofSourceSql, sourceColumns } from '../records/filters.sql.ts'

const row = { environment_ids: array(uuid), source_type: sourceKind, source_id: uuid }

/** What a deployment or a pending request touches: the environments that it names and those of its targets, and its source. */
export const TOUCHED = {
  deployment: statement({
    name: 'gateway.deployments.find-touched',
    parameters: { id: uuid },
    row,
    sql: `SELECT d.source_type, d.source_id, ARRAY(
             SELECT d.environment_id WHERE d.environment_id IS NOT NULL
              UNION SELECT t.environment_id FROM deployment_targets p JOIN targets t ON t.id = p.target_id
                     WHERE p.deployment_id = d.id AND t.environment_id IS NOT NULL) AS environment_ids
      FROM deployments d WHERE d.id = :id`,
  }),
  'pending request': statement({
    name: 'gateway.pending.find-touched',
    parameters: { id: uuid },
    row,
    sql: `SELECT r.source_type, r.source_id, ARRAY(
             SELECT r.environment_id WHERE r.environment_id IS NOT NULL
              UNION SELECT (p ->> 'environment_id')::uuid FROM jsonb_array_elements(r.freeze_subject -> 'targets') p
                     WHERE p ->> 'environment_id' IS NOT NULL) AS environment_ids
      FROM pending_requests r WHERE r.id = :id`,
  }),
}

/** What checks of releases touch: each environment with each source. */
export const findTouchedByChecks = statement({
  name: 'gateway.releases.find-touched',
  parameters: { tenant_id: nullable(uuid), ...sourceColumns, target_ids: nullable(array(uuid)) },
  row: { environment_id: nullable(uuid), source_type: sourceKind, source_id: uuid },
  sql: `SELECT DISTINCT t.environment_id, r.source_type, r.source_id
      FROM release_heads h
      JOIN releases r ON r.deployment_id = h.current_deployment_id AND r.target_id = h.target_id AND ${ownSql('r')}
      JOIN targets t ON t.id = h.target_id
     WHERE ${ofSourceSql('r')} AND (:target_ids::uuid[] IS NULL OR h.target_id = ANY (:target_ids))`,
})
