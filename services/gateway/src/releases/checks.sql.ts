import { array, int8, nullable, statement, text, uuid } from '@slipway/database'
import { isoTime, ownSql } from '@slipway/database/read-models'
import { ofSourceSql, sourceColumns } from '../catalog/source-filter.sql.ts'

/** How many releases in force of a source, on these targets, have a check, and how many have none. */
export const countCheckable = statement({
  name: 'gateway.releases.count-checkable',
  parameters: { tenant_id: nullable(uuid), ...sourceColumns, target_ids: nullable(array(uuid)) },
  row: { requested_at: text, total: int8, unchecked: int8 },
  sql: `SELECT ${isoTime('now()')} AS requested_at,
           count(*) FILTER (WHERE k.deployment_id IS NOT NULL) AS total,
           count(*) FILTER (WHERE k.deployment_id IS NULL) AS unchecked
      FROM release_heads h
      JOIN releases r ON r.deployment_id = h.current_deployment_id AND r.target_id = h.target_id AND ${ownSql('r')}
      LEFT JOIN release_checks k ON k.target_id = h.target_id AND k.source_id = h.source_id
     WHERE ${ofSourceSql('r')} AND (:target_ids::uuid[] IS NULL OR h.target_id = ANY (:target_ids))`,
})
