import { int4, nullable, sourceKind, text, uuid } from '@slipway/database'
import { isoTime, ownSql, visibleSql } from '@slipway/database/read-models'
import { isRecordSql } from '../records/filters.sql.ts'

/** SQL: when a release in force was applied. */
export const appliedAt = (release: string) => `coalesce(${release}.ended_at, ${release}.begun_at)`

const LAST_STATE = "coalesce(l.state, 'applied')"
/** SQL: an attempt that runs may be what repairs the target, so it is shown first. */
const SHOWN_STATE =
  `CASE WHEN c.deployment_id IS NOT NULL AND k.drifted_since IS NOT NULL AND ${LAST_STATE} NOT IN ` +
  `('running', 'rolling_back') THEN 'drifted' ELSE ${LAST_STATE}::text END`

/**
 * SQL: what is in force of each source on each target, and the latest attempt there. One row for a target and a source of which
 * the viewer sees a release. Deleted sources keep the name of the release.
 */
const INSTALLED = `(SELECT h.target_id, h.source_id, t.name AS target_name,
         coalesce(s.name, c.source_name, l.source_name) AS source_name,
         coalesce(c.source_type, l.source_type) AS source_type,
         CASE WHEN c.deployment_id IS NULL THEN l.tenant_id ELSE c.tenant_id END AS tenant_id,
         coalesce(t.environment_id, c.environment_id, l.environment_id) AS environment_id,
         ${LAST_STATE} AS state, ${SHOWN_STATE} AS shown_state,
         c.deployment_id, c.source_version AS version, c.variant, c.triggered_by AS applied_by,
         ${appliedAt('c')} AS applied_at,
         l.deployment_id AS latest_deployment_id
    FROM release_heads h
    JOIN targets t ON t.id = h.target_id AND ${visibleSql('t')}
    LEFT JOIN sources s ON s.id = h.source_id AND ${visibleSql('s')}
    LEFT JOIN releases c ON c.deployment_id = h.current_deployment_id AND c.target_id = h.target_id AND ${ownSql('c')}
    LEFT JOIN releases l ON l.deployment_id = h.latest_deployment_id AND l.target_id = h.target_id AND ${ownSql('l')}
    LEFT JOIN release_checks k ON k.target_id = h.target_id AND k.source_id = h.source_id
   WHERE c.deployment_id IS NOT NULL OR l.deployment_id IS NOT NULL) i`

/** Null means no condition. Records are given by id or number. */
export const scope = {
  tenant_id: nullable(uuid),
  pattern: nullable(text),
  of_tenant: nullable(uuid),
  of_tenant_number: nullable(int4),
  of_environment: nullable(uuid),
  of_environment_number: nullable(int4),
  source_type: nullable(sourceKind),
}

/** SQL: the installed releases `i` in the scope. */
export const FROM_INSTALLED = `FROM ${INSTALLED}
     WHERE ${isRecordSql('i.tenant_id', 'tenants', 'of_tenant')}
       AND ${isRecordSql('i.environment_id', 'environments', 'of_environment')}
       AND (:source_type::source_kind IS NULL OR i.source_type = :source_type)`

/** SQL: how many variants of a version there are. A single action has no other. Unknown ones are not counted. */
export const VARIANTS = 'greatest(1, count(DISTINCT variant))'

/** SQL: the names of the tenant and of the environment of this row, as `n` and `e`. */
export const withNames = (alias: string) => `LEFT JOIN tenants n ON n.id = ${alias}.tenant_id
      LEFT JOIN environments e ON e.id = ${alias}.environment_id AND ${visibleSql('e')}`

/** The fields of an attempt, with an SQL expression for each. */
export const attempt = (release: string) => ({
  deployment_id: `${release}.deployment_id`,
  version: `${release}.source_version`,
  state: `${release}.state`,
  triggered_by: `${release}.triggered_by`,
  begun_at: isoTime(`${release}.begun_at`),
  ended_at: isoTime(`${release}.ended_at`),
})

/** SQL: the release `b` of the deployment `before_id` on the target of this row. No release if the viewer may not see it. */
export const joinReplaced = (alias: string) =>
  `LEFT JOIN releases b ON b.deployment_id = ${alias}.before_id AND b.target_id = ${alias}.target_id AND ${ownSql('b')}`

/**
 * SQL: the id of the deployment before. If retention has deleted its release, its tenant is unknown, so only viewers
 * without tenant see the id.
 */
export const replacedId = (alias: string) =>
  `CASE WHEN b.deployment_id IS NOT NULL OR :tenant_id::uuid IS NULL THEN ${alias}.before_id END`
