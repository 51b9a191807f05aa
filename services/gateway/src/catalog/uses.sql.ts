import { LOCK_KEYS, statement, text, uuid } from '@slipway/database'
import type { SourceType } from '@slipway/domain'

const WAITING = `p.status IN ('pending', 'processing')`
const carries = (table: string, field: string, what: string) =>
  `SELECT '${what}' AS what WHERE EXISTS (SELECT FROM ${table} r WHERE r.${field} = :id::uuid)`

const inVersionsOf = (kind: SourceType, list: string, field: string) =>
  `SELECT DISTINCT 'the ${kind} "' || s.name || '"' AS what FROM source_versions v JOIN sources s ON s.id = v.source_id
    WHERE s.kind = '${kind}'
      AND v.definition @> jsonb_build_object('${list}', jsonb_build_array(jsonb_build_object('${field}', :id::uuid)))`

const RUNS_OF_SOURCE = [
  `SELECT 'a deployment that runs' AS what WHERE EXISTS (
     SELECT FROM deployments d WHERE d.completed_at IS NULL AND (d.source_id = :id::uuid OR EXISTS (
       SELECT FROM deployment_actions a WHERE a.deployment_id = d.id AND :id::uuid IN (a.action_id, a.sequence_id))))`,
  `SELECT 'a deployment that waits' AS what WHERE EXISTS (
     SELECT FROM pending_requests p WHERE ${WAITING} AND (p.command #>> '{plan,source,id}' = :id::uuid::text
       OR p.command #> '{plan,actions}' @> jsonb_build_array(jsonb_build_object('action_id', :id::uuid))
       OR p.command #> '{plan,actions}' @> jsonb_build_array(jsonb_build_object('sequence_id', :id::uuid))))`,
]

/** SQL: the names of records that use a record of this kind. */
const uses = (kind: string, places: string[]) =>
  statement({
    name: `gateway.catalog.find-uses-of-${kind}`,
    parameters: { id: uuid },
    row: { what: text },
    sql: places.join('\n UNION ALL\n '),
  })

/** For each kind of record, the places that may refer to it. */
export const USES = {
  action: uses('action', [inVersionsOf('sequence', 'actions', 'action_id'), ...RUNS_OF_SOURCE]),
  sequence: uses('sequence', [inVersionsOf('solution', 'sequences', 'sequence_id'), ...RUNS_OF_SOURCE]),
  solution: uses('solution', [carries('freezes', 'solution_id', 'a freeze'), ...RUNS_OF_SOURCE]),
  target: uses('target', [
    `SELECT 'a deployment that runs' AS what WHERE EXISTS (
       SELECT FROM deployments d JOIN deployment_targets t ON t.deployment_id = d.id
        WHERE d.completed_at IS NULL AND t.target_id = :id::uuid)`,
    `SELECT 'a deployment that waits' AS what WHERE EXISTS (
       SELECT FROM pending_requests p
        WHERE ${WAITING} AND p.command #> '{plan,targets}' @> jsonb_build_array(jsonb_build_object('id', :id::uuid)))`,
  ]),
  environment: uses('environment', [
    carries('targets', 'environment_id', 'a target'),
    carries('freezes', 'environment_id', 'a freeze'),
    carries('deployments', 'environment_id', 'a deployment'),
    carries('pending_requests', 'environment_id', 'a request for a deployment'),
  ]),
  tenant: uses('tenant', [
    carries('users', 'tenant_id', 'a user'),
    carries('environments', 'tenant_id', 'an environment'),
    carries('targets', 'tenant_id', 'a target'),
    carries('sources', 'tenant_id', 'an action, a sequence or a solution'),
    carries('freezes', 'tenant_id', 'a freeze'),
    carries('webhooks', 'tenant_id', 'a webhook'),
    `SELECT 'an orchestration instance' AS what
      WHERE EXISTS (SELECT FROM instances i WHERE i.tenant_id = :id::uuid AND i.removed_at IS NULL)`,
    carries('deployments', 'tenant_id', 'a deployment'),
    carries('pending_requests', 'tenant_id', 'a request for a deployment'),
  ]),
}

/** Publishing a version takes the lock shared, deleting a source takes it exclusively. */
export const LOCK_COMPOSITION = {
  publish: statement({
    name: 'gateway.catalog.lock-composition-shared',
    sql: `SELECT FROM pg_advisory_xact_lock_shared(${LOCK_KEYS.composition})`,
  }),
  delete: statement({
    name: 'gateway.catalog.lock-composition',
    sql: `SELECT FROM pg_advisory_xact_lock(${LOCK_KEYS.composition})`,
  }),
}
