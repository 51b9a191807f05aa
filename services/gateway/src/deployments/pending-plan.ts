import type { PlanView, Replacement, Static } from '@slipway/contracts'
import { type Database, jsonb, nullable, statement, timestamptz, uuid } from '@slipway/database'
import { findInForce, ownSql, readComparedPlans, type Viewer } from '@slipway/database/read-models'
import {
  comparedDeployments,
  type Plan,
  plannedVersions,
  type ReplacedTarget,
  replacements,
  resolvedVariables,
} from '@slipway/domain'
import { Batches } from '@slipway/http'
import type { Step } from './steps.sql.ts'
import { stepBatches } from './steps.ts'

const findPlan = statement({
  name: 'gateway.pending.find-plan',
  parameters: { id: uuid, tenant_id: nullable(uuid) },
  row: { plan: nullable(jsonb<Plan>()), created_at: timestamptz },
  sql: `SELECT r.command -> 'plan' AS plan, r.created_at FROM pending_requests r
     WHERE r.id = :id AND r.status = 'pending' AND ${ownSql('r')}`,
})

interface PendingPlan {
  plan?: Omit<Static<typeof PlanView>, 'steps'> & { steps: Batches<Step> }
  replaces?: Static<typeof Replacement>[]
}

/** The plan of a request that waits, with secrets masked, and what it would replace now. Empty if it does not wait any more. */
export async function readPendingPlan(db: Database, viewer: Viewer, id: string): Promise<PendingPlan> {
  const { tenant_id } = viewer
  const found = await findPlan.first(db, { id, tenant_id })
  if (found === null || found.plan === null) return {}
  const { plan, created_at } = found
  const target_ids = plan.targets.map((target) => target.id)
  const releases = await findInForce.all(db, { source_id: plan.source.id, target_ids, tenant_id })
  const byTarget = new Map(releases.map((release) => [release.target_id, release]))
  const targets = plan.targets.map(({ id, name, values_hash = null }): ReplacedTarget => {
    return { id, name, values_hash, replaced: byTarget.get(id) ?? null }
  })
  const plans = await readComparedPlans(db, comparedDeployments(targets), tenant_id)
  const rows = plan.targets.map(({ id, name }) => ({ target_id: id, target_name: name }))
  return {
    plan: {
      target_count: plan.targets.length,
      versions: plannedVersions(plan),
      resolved_variables: resolvedVariables(plan),
      tenant_name: plan.tenant?.name ?? null,
      environment_name: plan.environment?.name ?? null,
      created_at: created_at.toISOString(),
      steps: new Batches(stepBatches(id, plan.actions, rows)),
    },
    replaces: replacements(targets, plan, plans),
  }
}
