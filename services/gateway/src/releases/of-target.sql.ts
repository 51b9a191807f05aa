import { bool, int8, nullable, releaseState, statement, text, uuid } from '@slipway/database'
import { jsonObject } from '@slipway/views'
import { ofSourceSql, sourceColumns } from '../catalog/source-filter.ts'
import { ownSql } from '../tenancy/visibility.ts'
import { attempt } from './installed.sql.ts'
import { joinReplaced, replacedId } from './replaced.sql.ts'

const NEWEST_FIRST = 'r.begun_at DESC, r.deployment_id DESC'

const ITEM = jsonObject({
  source_type: 'r.source_type',
  source_id: 'r.source_id',
  source_name: 'r.source_name',
  ...attempt('r'),
  values_hash: 'r.values_hash',
  is_current: 'r.is_current',
  replaced_deployment_id: replacedId('r'),
})

/** A page of the history of a target, newest first, with the total. */
export const findReleasesOfTarget = statement({
  name: 'gateway.releases.of-target',
  parameters: {
    target_id: uuid,
    tenant_id: nullable(uuid),
    pattern: nullable(text),
    ...sourceColumns,
    state: nullable(releaseState),
    current: nullable(bool),
    take: int8,
    skip: int8,
  },
  row: { total: int8, data: text },
  sql: `WITH found AS (
      SELECT r.*, h.current_deployment_id IS NOT NULL AS is_current
        FROM releases r LEFT JOIN release_heads h ON h.target_id = r.target_id AND h.source_id = r.source_id
             AND h.current_deployment_id = r.deployment_id
       WHERE r.target_id = :target_id AND ${ownSql('r')} AND ${ofSourceSql('r')}
         AND (:pattern::text IS NULL OR r.source_name ILIKE :pattern)
         AND (:state::release_state IS NULL OR r.state = :state)
         AND (:current::bool IS NULL OR (h.current_deployment_id IS NOT NULL) = :current)),
    page AS (SELECT r.*, r.replaced_deployment_id AS before_id FROM found r ORDER BY ${NEWEST_FIRST} LIMIT :take OFFSET :skip)
    SELECT (SELECT count(*) FROM found) AS total,
      (SELECT coalesce(json_agg(${ITEM} ORDER BY ${NEWEST_FIRST}), '[]')::text FROM page r ${joinReplaced('r')}) AS data`,
})
