import type { CommandBody } from '@slipway/contracts'
import { enqueue, eventMessage, type Queryable } from '@slipway/database'
import { insertLeases, type Slot } from '../leases/allocate.ts'
import { leasesChanged } from '../leases/changed.ts'

/** A deployment that starts now, in a slot that this transaction has locked. */
export interface Starting {
  deployment_id: string
  tenant_id: string | null
  request_id: string | null
  traceparent: string | null
  slot: Slot
  /** The command itself, or the pending request that keeps it: then it does not leave the database. */
  from: { command: CommandBody<'deployment.start'> } | { pending_request_id: string }
}

/**
 * Starts deployments: leases, rows and messages in a handful of statements, whatever their number and size.
 * The plan is taken apart by the database: steps are targets times actions and never cross the wire.
 */
export async function writeStarted(tx: Queryable, starting: readonly Starting[]): Promise<void> {
  if (starting.length === 0) return
  await Promise.all([insertAndAnnounce(tx, starting), insertDeployments(tx, starting)])
}

async function insertAndAnnounce(tx: Queryable, starting: readonly Starting[]): Promise<void> {
  const leases = await insertLeases(tx, starting)
  await enqueue(tx, [
    ...leasesChanged(leases, starting),
    ...starting.map(({ deployment_id, tenant_id, request_id, traceparent }) => ({
      ...eventMessage('deployment.created', { deployment_id, tenant_id, state: 'running' }),
      ...{ request_id, traceparent },
    })),
  ])
}

async function insertDeployments(tx: Queryable, starting: readonly Starting[]): Promise<void> {
  await tx.query(
    `WITH input AS (
       SELECT i.id, i.request_id, i.traceparent, i.instance_name, p.id IS NOT NULL AS was_queued,
              -- Not as jsonb[]: whoever sends or reads that goes through each plan twice.
              CASE WHEN i.pending_id IS NULL THEN $4::jsonb -> (i.place::int - 1) ELSE p.command END AS command,
              p.priority
         FROM unnest($1::uuid[], $2::text[], $3::text[], $5::uuid[], $6::text[])
              WITH ORDINALITY AS i (id, request_id, instance_name, pending_id, traceparent, place)
         LEFT JOIN pending_requests p ON p.id = i.pending_id
     ), plans AS MATERIALIZED (
       SELECT id, request_id, traceparent, instance_name, was_queued, priority, command, command -> 'plan' AS plan,
              jsonb_array_length(command #> '{plan,targets}') AS target_count,
              jsonb_array_length(command #> '{plan,actions}') AS action_count
         FROM input
     ), d AS (
       INSERT INTO deployments (
         id, state, tenant_id, tenant_name, environment_id, environment_name, source_type, source_id, source_name,
         source_version, plan_head, selection, total_steps, triggered_by, triggered_by_id, request_id,
         source_deployment_id, freeze_override, created_at, started_at, deadline_at, analysis_enabled, traceparent,
         warnings)
       SELECT id, 'running', (plan #>> '{tenant,id}')::uuid, plan #>> '{tenant,name}',
              (plan #>> '{environment,id}')::uuid, plan #>> '{environment,name}',
              (plan #>> '{source,type}')::source_kind, (plan #>> '{source,id}')::uuid, plan #>> '{source,name}',
              plan #>> '{source,version}',
              -- Of a request that waited it may have been changed since.
              CASE WHEN was_queued THEN jsonb_set(plan - 'actions' - 'targets', '{options,priority}', to_jsonb(priority))
                   ELSE plan - 'actions' - 'targets' END, command -> 'selection',
              target_count * action_count, command #>> '{caller,username}', (command #>> '{caller,user_id}')::uuid,
              request_id, (command ->> 'source_deployment_id')::uuid, command #>> '{freeze_override,reason}',
              now(), now(),
              CASE WHEN (plan #>> '{options,deployment_timeout_seconds}')::int > 0
                   THEN now() + make_interval(secs => (plan #>> '{options,deployment_timeout_seconds}')::int) END,
              (SELECT analysis_enabled FROM queue_settings),
              traceparent, coalesce(command -> 'warnings', '[]')
         FROM plans
     ), a AS (
       INSERT INTO deployment_actions (
         deployment_id, action_index, sequence_id, sequence_name, sequence_version, sequence_order, action_id,
         action_name, action_version, action_order, timeout_seconds, max_retries, has_rollback, variables)
       SELECT plans.id, place - 1, (action ->> 'sequence_id')::uuid, action ->> 'sequence_name',
              action ->> 'sequence_version', (action ->> 'sequence_order')::int, (action ->> 'action_id')::uuid,
              action ->> 'action_name', action ->> 'action_version', (action ->> 'action_order')::int,
              (action ->> 'timeout_seconds')::int, (action ->> 'max_retries')::int,
              (action ->> 'has_rollback')::boolean, action -> 'variables'
         FROM plans, jsonb_array_elements(plan -> 'actions') WITH ORDINALITY AS e (action, place)
     ), t AS (
       INSERT INTO deployment_targets (deployment_id, target_index, target_id, target_name, variables)
       SELECT plans.id, place - 1, (target ->> 'id')::uuid, target ->> 'name', target -> 'variables'
         FROM plans, jsonb_array_elements(plan -> 'targets') WITH ORDINALITY AS e (target, place)
     ), s AS (
       INSERT INTO steps (deployment_id, target_index, action_index)
       SELECT plans.id, target_index, action_index
         FROM plans, generate_series(0, target_count - 1) AS target_index,
              generate_series(0, action_count - 1) AS action_index
     )
     INSERT INTO deployment_transitions (deployment_id, number, from_state, to_state, message)
     SELECT id, 0, NULL, 'queued'::deployment_state, 'Waited for a free orchestration instance' FROM plans WHERE was_queued
     UNION ALL
     SELECT id, CASE WHEN was_queued THEN 1 ELSE 0 END, CASE WHEN was_queued THEN 'queued'::deployment_state END,
            'running', 'Started on instance ' || instance_name FROM plans`,
    [
      starting.map(({ deployment_id }) => deployment_id),
      starting.map(({ request_id }) => request_id),
      starting.map(({ slot }) => slot.instance_name),
      JSON.stringify(starting.map(({ from }) => ('command' in from ? from.command : null))),
      starting.map(({ from }) => ('pending_request_id' in from ? from.pending_request_id : null)),
      starting.map(({ traceparent }) => traceparent),
    ],
  )
}
