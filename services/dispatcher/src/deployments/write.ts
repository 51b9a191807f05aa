import type { CommandBody } from '@slipway/contracts'
import { enqueue, eventMessage, type Queryable } from '@slipway/database'
import { type DeploymentState, type PlanRows, toRows, variantOf } from '@slipway/domain'
import { insertLeases, type Slot } from '../leases/allocate.ts'
import { leasesChanged } from '../leases/changed.ts'
import { takeTargetLocks } from '../locks/locks.ts'
import { insertActions, insertDeployments, insertSteps, insertTargets, insertTransitions } from './write.sql.ts'

/** A deployment to start, with a slot that this transaction has locked. */
export interface Starting {
  deployment_id: string
  request_id: string | null
  traceparent: string | null
  slot: Slot
  command: CommandBody<'deployment.start'>
  /** The ids of the targets that it locks. */
  locks: readonly string[]
  /** Whether the request was pending before. */
  was_queued: boolean
}

/** Starts deployments: writes leases, rows and messages with a fixed number of statements. */
export async function writeStarted(tx: Queryable, starting: readonly Starting[]): Promise<void> {
  if (starting.length === 0) return
  await Promise.all([insertAndAnnounce(tx, starting), insertPlans(tx, starting)])
}

async function insertAndAnnounce(tx: Queryable, starting: readonly Starting[]): Promise<void> {
  const leases = await insertLeases(tx, starting)
  await takeTargetLocks(tx, starting, leases)
  await enqueue(tx, [
    ...leasesChanged(leases, starting),
    ...starting.map(({ deployment_id, command, request_id, traceparent }) => ({
      ...eventMessage('deployment.created', { deployment_id, tenant_id: tenantOf(command), state: 'running' }),
      ...{ request_id, traceparent },
    })),
  ])
}

const tenantOf = ({ plan }: Starting['command']) => plan.tenant?.id ?? null

async function insertPlans(tx: Queryable, starting: readonly Starting[]): Promise<void> {
  const written = starting.map((start) => ({ ...start, rows: toRows(start.command.plan) }))
  const rowsOf = <R extends object>(pick: (rows: PlanRows) => R[]) =>
    written.flatMap(({ deployment_id, rows }) => pick(rows).map((row) => ({ deployment_id, ...row })))
  await Promise.all([
    insertDeployments.runRows(tx, written.map(deploymentRow)),
    insertActions.runRows(
      tx,
      rowsOf(({ actions }) => actions),
    ),
    insertTargets.runRows(
      tx,
      rowsOf(({ targets }) => targets),
    ),
    insertSteps.runRows(
      tx,
      rowsOf(({ actions, targets }) => [{ target_count: targets.length, action_count: actions.length }]),
    ),
    insertTransitions.runRows(tx, starting.flatMap(transitionRows)),
  ])
}

function deploymentRow({
  deployment_id,
  command,
  rows,
  request_id,
  traceparent,
  locks,
}: Starting & { rows: PlanRows }) {
  const { plan_head, targets, actions } = rows
  const { source, tenant, environment, options } = plan_head
  return {
    id: deployment_id,
    tenant_id: tenant?.id ?? null,
    tenant_name: tenant?.name ?? null,
    environment_id: environment?.id ?? null,
    environment_name: environment?.name ?? null,
    source_type: source.type,
    source_id: source.id,
    source_name: source.name,
    source_version: source.version,
    plan_head,
    selection: command.selection,
    total_steps: targets.length * actions.length,
    triggered_by: command.caller.username,
    triggered_by_id: command.caller.user_id,
    request_id,
    source_deployment_id: command.source_deployment_id,
    freeze_override: command.freeze_override?.reason ?? null,
    timeout_seconds: options.deployment_timeout_seconds,
    traceparent,
    warnings: command.warnings ?? [],
    locks_targets: locks.length > 0,
    variant: variantOf(source, actions),
  }
}

function transitionRows({ deployment_id, slot, was_queued }: Starting) {
  const history: { to_state: DeploymentState; message: string }[] = [
    ...(was_queued ? [{ to_state: 'queued' as const, message: 'Waited for a free orchestration instance' }] : []),
    { to_state: 'running', message: `Started on instance ${slot.instance_name}` },
  ]
  return history.map((entry, number) => {
    return { deployment_id, number, from_state: history[number - 1]?.to_state ?? null, ...entry }
  })
}
