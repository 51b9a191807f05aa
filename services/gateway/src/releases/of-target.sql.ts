import { bool, int8, nullable, statement, text, uuid } from '@slipway/database'
import { CHECK, jsonObject, ownSql } from '@slipway/database/read-models'
import { afterKeySql, pageColumns } from '../pages.sql.ts'
import { ofSourceSql, sourceColumns } from '../records/filters.sql.ts'
import { attempt, joinReplaced, replacedId } from './installed.sql.ts'

const NEWEST_FIRST = 'r.begun_at DESC, r.deployment_id DESC'
const AFTER = afterKeySql('descending', ['r.begun_at', 'timestamptz'], ['r.deployment_id', 'uuid'])

/** SQL: the state of the release `r` with its check `k`. */
const SHOWN_STATE = `CASE WHEN r.is_current AND k.drifted_since IS NOT NULL THEN 'drifted' ELSE r.state::text END`

/** SQL: whether the deployments `d` and `o` have the same variables in their requests. Sealed values count as equal. */
const SAME_REQUEST = `NOT EXISTS (
    SELECT FROM jsonb_each(d.plan_head -> 'override_variables') AS n (name, new_value)
      FULL JOIN jsonb_each(o.plan_head -> 'override_variables') AS p (name, old_value) USING (name)
     WHERE n.new_value IS NULL OR p.old_value IS NULL
        OR (n.new_value <> p.old_value AND n.new_value -> '$sealed' IS NULL AND p.old_value -> '$sealed' IS NULL))
    AND d.environment_id IS NOT DISTINCT FROM o.environment_id`

/** SQL: the earlier deployment that the release \`r\` brings back. A redeployment with other values is a new release. */
export const REPEATED = `(SELECT o.id FROM deployments d
    JOIN deployments o ON o.id = d.source_deployment_id
    JOIN releases s ON s.deployment_id = o.id AND s.target_id = r.target_id AND s.state = 'applied'
   WHERE d.id = r.deployment_id AND ${SAME_REQUEST})`

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
  repeats_deployment_id: REPEATED,
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
    ...pageColumns,
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
    page AS (SELECT r.*, r.replaced_deployment_id AS before_id FROM found r WHERE ${AFTER} ORDER BY ${NEWEST_FIRST} LIMIT :take OFFSET :skip)
    SELECT (SELECT count(*) FROM found) AS total,
      (SELECT coalesce(json_agg(${ITEM} ORDER BY ${NEWEST_FIRST}), '[]')::text FROM page r ${joinReplaced('r')}
         LEFT JOIN release_checks k ON k.target_id = r.target_id AND k.source_id = r.source_id) AS data`,
})
