import { ownSql } from '@slipway/database/read-models'

/** SQL: the release `b` of the deployment `before_id` on the target of this row. No release if the viewer may not see it. */
export const joinReplaced = (alias: string) =>
  `LEFT JOIN releases b ON b.deployment_id = ${alias}.before_id AND b.target_id = ${alias}.target_id AND ${ownSql('b')}`

/**
 * SQL: the id of the deployment before. If retention has deleted its release, its tenant is unknown, so only viewers
 * without tenant see the id.
 */
export const replacedId = (alias: string) =>
  `CASE WHEN b.deployment_id IS NOT NULL OR :tenant_id::uuid IS NULL THEN ${alias}.before_id END`
