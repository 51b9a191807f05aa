import { array, CHECK_INTERVAL, DUE_CHECKS, float8, int4, int8, nullable, statement, uuid } from '@slipway/database'
import { ownSql } from '@slipway/database/read-models'

/** Plans the first check of releases that came into force. All targets of a deployment have the same time, each deployment its own. */
export const schedule = statement({
  name: 'dispatcher.drift.schedule',
  parameters: { every: int4, limit: int8 },
  sql: `UPDATE release_checks c
       SET next_at = now() + make_interval(secs => ${CHECK_INTERVAL} * (0.5 + (hashtext(c.deployment_id::text) & 1023) / 2048.0))
     WHERE (c.target_id, c.source_id) IN (
       SELECT c.target_id, c.source_id FROM release_checks c
        WHERE c.next_at IS NULL AND c.deployment_id IS NOT NULL AND ${CHECK_INTERVAL} IS NOT NULL
        LIMIT :limit FOR UPDATE SKIP LOCKED)`,
})

/** Takes the due checks of a deployment for this run. Only one dispatcher gets each. */
export const claim = statement({
  name: 'dispatcher.drift.claim',
  parameters: { deployment_id: uuid, run_id: uuid, every: int4, spread: float8, limit: int8 },
  sql: `UPDATE release_checks c
       SET run_id = :run_id, requested = false, next_at = now() + make_interval(secs => ${CHECK_INTERVAL} * :spread::float8)
     WHERE (c.target_id, c.source_id) IN (
       SELECT c.target_id, c.source_id FROM ${DUE_CHECKS} AND c.deployment_id = :deployment_id
        ORDER BY c.target_id LIMIT :limit FOR UPDATE OF c SKIP LOCKED)`,
})

/** Makes checks of releases in force due before all others. Null: any tenant, source or target. */
export const requestChecks = statement({
  name: 'dispatcher.drift.request',
  parameters: { tenant_id: nullable(uuid), source_id: nullable(uuid), target_ids: nullable(array(uuid)) },
  sql: `UPDATE release_checks c SET requested = true, next_at = 'epoch'
      FROM release_heads h
      JOIN releases r ON r.deployment_id = h.current_deployment_id AND r.target_id = h.target_id
     WHERE h.target_id = c.target_id AND h.source_id = c.source_id AND c.deployment_id IS NOT NULL
       AND ${ownSql('r')}
       AND (:source_id::uuid IS NULL OR c.source_id = :source_id)
       AND (:target_ids::uuid[] IS NULL OR c.target_id = ANY (:target_ids))`,
})
