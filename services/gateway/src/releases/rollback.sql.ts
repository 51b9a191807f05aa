import { int8, jsonb, nullable, releaseState, statement, text, uuid } from '@slipway/database'
import { jsonObject, ownSql } from '@slipway/database/read-models'
import type { PastRelease } from '@slipway/domain'
import { amongColumns, ofSourceSql, sourceColumns, tagColumns, taggedSql } from '../records/filters.sql.ts'
import { FROM_INSTALLED, replacedId, scope } from './installed.sql.ts'
import { REPEATED } from './of-target.sql.ts'

const { pattern: _, ...place } = scope

const RELEASE = jsonObject({
  deployment_id: 'r.deployment_id',
  version: 'r.source_version',
  values_hash: 'r.values_hash',
  is_current: 'r.is_current',
  replaced_deployment_id: replacedId('r'),
  repeats_deployment_id: REPEATED,
})

/** The targets that have a source, each with the state of the last attempt and its newest releases, newest first. */
export const findHistories = statement({
  name: 'gateway.releases.find-histories',
  parameters: {
    ...place,
    ...sourceColumns,
    ...tagColumns,
    among_ids: amongColumns.among_ids,
    deployment_id: nullable(uuid),
    targets: int8,
    releases: int8,
  },
  row: {
    target_id: uuid,
    target_name: text,
    state: releaseState,
    deployment_id: nullable(uuid),
    latest_deployment_id: nullable(uuid),
    history: jsonb<PastRelease[]>(),
  },
  sql: `WITH found AS (
      SELECT i.target_id, i.target_name, i.source_id, i.state, i.deployment_id, i.latest_deployment_id
      ${FROM_INSTALLED} AND ${ofSourceSql('i')} AND ${taggedSql('i.target_id')}
         AND (:among_ids::uuid[] IS NULL OR i.target_id = ANY(:among_ids))
         AND (:deployment_id::uuid IS NULL OR :deployment_id IN (i.deployment_id, i.latest_deployment_id))
       ORDER BY i.target_name, i.target_id LIMIT :targets)
    SELECT f.target_id, f.target_name, f.state, f.deployment_id, f.latest_deployment_id,
      (SELECT coalesce(jsonb_agg(${RELEASE} ORDER BY r.begun_at DESC, r.deployment_id DESC), '[]')
         FROM (SELECT n.*, n.replaced_deployment_id AS before_id, coalesce(n.deployment_id = f.deployment_id, false) AS is_current
                 FROM releases n WHERE n.target_id = f.target_id AND n.source_id = f.source_id AND ${ownSql('n')}
                ORDER BY n.begun_at DESC, n.deployment_id DESC LIMIT :releases) r
         LEFT JOIN releases b ON b.deployment_id = r.before_id AND b.target_id = r.target_id AND ${ownSql('b')}) AS history
      FROM found f ORDER BY f.target_name, f.target_id`,
})
