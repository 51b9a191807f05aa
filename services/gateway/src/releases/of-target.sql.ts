import { bool, int8, nullable, statement, text, uuid } from '@slipway/database'
import { CHECK, jsonObject, ownSql } from '@slipway/views'
import { ofSourceSql, sourceColumns } from '../catalog/source-filter.sql.ts'
import { attempt } from './installed.sql.ts'
import { joinReplaced, replacedId } from './replaced.sql.ts'

const NEWEST_FIRST = 'r.begun_at DESC, r.deployment_id DESC'

/** SQL: the state of the release `r` with its check `k`. */
const SHOWN_STATE = `CASE WHEN r.is_current AND k.drifted_since IS NOT NULL THEN 'drifted' ELSE r.state::text END`

const ITEM = jsonObject({
  source_type: 'r.source_type',
  source_id: 'r.source_id',
  source_name: 'r.source_name',
  ...attempt('r'),
  state: SHOWN_STATE,
  check: `CASE WHEN r.is_current THEN ${CHECK} END`,
  variant: 'r.variant',
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
    state: nullable(text),
    current: nullable(bool),
    take: int8,
    skip: int8,
  },
  row: { total: int8, data: text },
  sql: `WITH found AS (
      SELECT r.*, h.current_deployment_id IS NOT NULL AS is_current
        FROM releases r LEFT JOIN release_heads h ON h.target_id = r.target_id AND h.source_id = r.source_id
             AND h.current_deployment_id = r.deployment_id
        LEFT JOIN release_checks k ON k.target_id = h.target_id AND k.source_id = h.source_id
       WHERE r.target_id = :target_id AND ${ownSql('r')} AND ${ofSourceSql('r')}
         AND (:pattern::text IS NULL OR r.source_name ILIKE :pattern)
         AND (:state::text IS NULL OR :state = CASE WHEN k.drifted_since IS NOT NULL THEN 'drifted' ELSE r.state::text END)
         AND (:current::bool IS NULL OR (h.current_deployment_id IS NOT NULL) = :current)),
    page AS (SELECT r.*, r.replaced_deployment_id AS before_id FROM found r ORDER BY ${NEWEST_FIRST} LIMIT :take OFFSET :skip)
    SELECT (SELECT count(*) FROM found) AS total,
      (SELECT coalesce(json_agg(${ITEM} ORDER BY ${NEWEST_FIRST}), '[]')::text FROM page r ${joinReplaced('r')}
         LEFT JOIN release_checks k ON k.target_id = r.target_id AND k.source_id = r.source_id) AS data`,
})
