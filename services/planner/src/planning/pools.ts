import { array, int8, present, type Queryable, statement, text, uuid } from '@slipway/database'
import {
  type InstanceSelector,
  type MaybeSelector,
  type Plan,
  poolName,
  type SelectingTarget,
  type TargetPool,
  targetPools,
} from '@slipway/domain'
import { type Instance, instancesOf, takesRuns } from '@slipway/engine'
import type { EnvironmentRecord, TenantRecord } from '../records/scope.ts'
import type { TargetRecord } from '../records/targets.ts'

/** The targets that one of these instances did not reach by the last probe. */
const findMissed = statement({
  name: 'planner.target-facts.find-missed',
  parameters: { ids: array(uuid), instance_ids: array(uuid), limit: int8 },
  row: { name: text, missed_by: present(uuid) },
  sql: `SELECT t.name, f.missed_by FROM target_facts f JOIN targets t ON t.id = f.target_id
     WHERE f.target_id = ANY (:ids) AND f.missed_by = ANY (:instance_ids) ORDER BY t.name, t.id LIMIT :limit`,
})

const isGiven = (selector: InstanceSelector | null | undefined): selector is InstanceSelector =>
  selector !== null && selector !== undefined && Object.keys(selector).length > 0

/** The selectors of the tenant and environment of the deployment. */
export const scopeSelectors = (
  tenant: TenantRecord | null,
  environment: EnvironmentRecord | null,
): readonly InstanceSelector[] => [tenant?.instance_selector, environment?.instance_selector].filter(isGiven)

export function selectingTarget(target: TargetRecord): SelectingTarget {
  const { id, name, instance_selector, environment_selector, tenant_selector } = target
  return { id, name, selectors: [instance_selector, environment_selector, tenant_selector].filter(isGiven) }
}

/** What selects the instances of a plan. */
export interface PoolSelection {
  scope: readonly InstanceSelector[]
  targets: readonly SelectingTarget[]
}

/** Names targets that no instance matches, and targets that a matching instance did not reach. Only for a plan with a selector. */
export async function poolWarnings(
  db: Queryable,
  { plan, pools: { scope, targets } }: { plan: Plan; pools: PoolSelection },
  instances: readonly Instance[],
): Promise<string[]> {
  const matching = (selector: MaybeSelector) =>
    instancesOf(instances, { tenant_id: plan.tenant?.id ?? null, selector }).filter(takesRuns)
  const selector = plan.instance_selector ?? null
  const fit = matching(selector)
  if (fit.length > 0) return missedWarnings(db, targets, fit)
  const unmatched = targetPools(scope, targets).filter((pool) => matching(pool.selector).length === 0)
  if (unmatched.length > 0) return unmatched.map(unmatchedWarning)
  return [
    `No online instance matches ${poolName(selector)}, which the targets need together: the deployment waits until one does`,
  ]
}

function unmatchedWarning({ selector, targets }: TargetPool): string {
  const [first] = targets
  const others = targets.length - 1
  const which = others === 0 ? `Target "${first?.name}" needs` : `Target "${first?.name}" and ${others} more need`
  return `${which} an instance that matches ${poolName(selector)}, and none is online: the deployment waits until one is`
}

/** At most this many targets are named. */
const NAMED_TARGETS = 100

async function missedWarnings(
  db: Queryable,
  targets: readonly SelectingTarget[],
  instances: readonly Instance[],
): Promise<string[]> {
  const missed = await findMissed.all(db, {
    ids: targets.map(({ id }) => id),
    instance_ids: instances.map(({ id }) => id),
    limit: NAMED_TARGETS,
  })
  const names = new Map(instances.map(({ id, name }) => [id, name]))
  return missed.map(
    ({ name, missed_by }) =>
      `The last probe of target "${name}" by instance "${names.get(missed_by)}" did not reach it`,
  )
}
