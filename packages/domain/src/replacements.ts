import { type ComparedPlan, type PlanDifference, planDifference } from './plan-difference.ts'

/** A release in force on a target. Retention may have deleted all but its deployment's id. */
export interface ReleaseInForce {
  deployment_id: string
  version: string | null
  applied_at: Date | null
  applied_by: string | null
  values_hash: string | null
}

export interface ReplacedTarget {
  id: string
  name: string
  /** Of the deployment that replaces; null: not known. */
  values_hash: string | null
  /** Null: nothing is in force on the target. */
  replaced: ReleaseInForce | null
}

interface Replacement {
  deployment_id: string | null
  version: string | null
  applied_at: string | null
  applied_by: string | null
  target_count: number
  targets: { id: string; name: string }[]
  unchanged_count: number
  difference: PlanDifference | null
}

/** At most this many targets of a replacement are named. */
const NAMED_TARGETS = 100
/** At most this many deployments are compared: those in force on the most targets. */
const COMPARED_DEPLOYMENTS = 20

/** Whether the release in force has the same versions and values. */
export const isUnchanged = ({ values_hash, replaced }: ReplacedTarget) =>
  values_hash !== null && replaced?.values_hash === values_hash

/** The targets by the deployment in force on them, those with the most targets first. */
function byReplaced(targets: readonly ReplacedTarget[]): ReplacedTarget[][] {
  const groups = new Map<string | undefined, ReplacedTarget[]>()
  for (const target of targets) {
    const key = target.replaced?.deployment_id
    const group = groups.get(key)
    if (group) group.push(target)
    else groups.set(key, [target])
  }
  return [...groups.values()].sort((a, b) => b.length - a.length)
}

/** The deployments whose plans `replacements` needs. */
export function comparedDeployments(targets: readonly ReplacedTarget[]): string[] {
  return byReplaced(targets)
    .flatMap(([first]) => first?.replaced?.deployment_id ?? [])
    .slice(0, COMPARED_DEPLOYMENTS)
}

/** What a deployment with this plan replaces on its targets. `plans`: those of `comparedDeployments` that are still there. */
export function replacements(
  targets: readonly ReplacedTarget[],
  plan: ComparedPlan,
  plans: ReadonlyMap<string, ComparedPlan>,
): Replacement[] {
  return byReplaced(targets).map((group) => {
    const replaced = group[0]?.replaced ?? null
    const before = replaced && plans.get(replaced.deployment_id)
    return {
      deployment_id: replaced?.deployment_id ?? null,
      version: replaced?.version ?? null,
      applied_at: replaced?.applied_at?.toISOString() ?? null,
      applied_by: replaced?.applied_by ?? null,
      target_count: group.length,
      targets: group.slice(0, NAMED_TARGETS).map(({ id, name }) => ({ id, name })),
      unchanged_count: group.filter(isUnchanged).length,
      difference: before ? planDifference(before, plan) : null,
    }
  })
}
