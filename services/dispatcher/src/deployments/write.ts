import type { CommandBody } from '@slipway/contracts'
import { enqueue, eventMessage, type Queryable } from '@slipway/database'
import { type DeploymentState, type PlanRows, toRows, variantOf } from '@slipway/domain'
import { type Approval, type Slot, type Snapshot, shownApproval } from '@slipway/engine'
import { leaseSlots, leasesChanged } from '../leases/leases.ts'
import { takeTargetLocks } from '../locks/take.ts'
import {
  insertActions,
  insertDeployments,
  insertSteps,
  insertTargets,
  insertTransitions,
  markLocking,
  noteApprovals,
} from './write.sql.ts'

/** A deployment whose plan is written. */
export interface PlannedDeployment {
  deployment_id: string
  request_id: string | null
  traceparent: string | null
  command: CommandBody<'deployment.start'>
}

/** A deployment to start, with the slot that it was given. */
export interface Starting extends PlannedDeployment {
  slot: Slot
  /** The ids of the targets that it locks. */
  locks: readonly string[]
  /** Whether the request was pending before. */
  was_queued: boolean
  /** Whether its plan is written already. */
  is_planned: boolean
  /** The approvals that a rule asked for. */
  approvals: readonly Approval[]
}

/**
 * Starts deployments: writes leases, rows and messages with a fixed number of statements.
 * @throws Moved if a slot or a target was taken since the snapshot
 */
export async function writeStarted(tx: Queryable, snapshot: Snapshot, starting: readonly Starting[]): Promise<void> {
  if (starting.length === 0) return
  const locking = starting.filter(({ locks }) => locks.length > 0).map(({ deployment_id }) => deployment_id)
  await Promise.all([
    insertAndAnnounce(tx, snapshot, starting),
    insertPlans(
      tx,
      starting.filter(({ is_planned }) => !is_planned),
    ),
    insertTransitions.runRows(tx, starting.flatMap(transitionRows)),
    locking.length > 0 ? markLocking.run(tx, { ids: locking }) : 0,
  ])
  const approved = starting.filter(({ approvals }) => approvals.length > 0)
  if (approved.length === 0) return
  await noteApprovals.run(tx, {
    ids: approved.map(({ deployment_id }) => deployment_id),
    approved_by: approved.map(({ approvals }) => approvals.map(shownApproval)),
  })
}

async function insertAndAnnounce(tx: Queryable, snapshot: Snapshot, starting: readonly Starting[]): Promise<void> {
  const leases = await leaseSlots(tx, snapshot, starting)
  await takeTargetLocks(tx, starting, leases)
  await enqueue(tx, [
    ...leasesChanged(leases, starting),
    ...starting.map(({ deployment_id, command, request_id, traceparent }) => ({
      ...eventMessage('deployment.created', { deployment_id, tenant_id: tenantOf(command), state: 'running' }),
      request_id,
      traceparent,
    })),
  ])
}

const tenantOf = ({ plan }: Starting['command']) => plan.tenant?.id ?? null

/** Writes the rows of plans. */
export async function insertPlans(tx: Queryable, starting: readonly PlannedDeployment[]): Promise<void> {
  if (starting.length === 0) return
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
  ])
}

function deploymentRow({
  deployment_id,
  command,
  rows,
  request_id,
  traceparent,
}: PlannedDeployment & { rows: PlanRows }) {
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
    api_key_name: command.caller.key_name ?? null,
    request_id,
    source_deployment_id: command.source_deployment_id,
    freeze_override: command.freeze_override?.reason ?? null,
    timeout_seconds: options.deployment_timeout_seconds,
    traceparent,
    warnings: command.warnings,
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
