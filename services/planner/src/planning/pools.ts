import type { Queryable } from '@slipway/database'
import {
  type InstanceSelector,
  type MaybeSelector,
  matchesLabels,
  type Plan,
  poolName,
  type SelectingTarget,
  type TargetPool,
  targetPools,
} from '@slipway/domain'
import { COMPATIBLE_VERSION } from '@slipway/runtime'
import { capacityWarnings } from '../records/capacity.ts'
import { findInstances, findMissed, type OnlineInstance } from '../records/instances.sql.ts'
import type { EnvironmentRecord, TenantRecord } from '../records/scope.ts'
import type { TargetRecord } from '../records/targets.ts'

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

const onlineInstances = (db: Queryable, { tenant }: Plan): Promise<OnlineInstance[]> =>
  findInstances.all(db, { version: COMPATIBLE_VERSION, tenant_id: tenant?.id ?? null })

const matching = (online: readonly OnlineInstance[], selector: MaybeSelector) =>
  online.filter(({ labels }) => matchesLabels(selector, labels))

/** Warns if the deployment would not start at once at this moment. The dispatcher decides later. */
export async function startWarnings(db: Queryable, plan: Plan): Promise<string[]> {
  const { instance_selector: selector = null, options, tenant } = plan
  const instances = selector === null ? null : matching(await onlineInstances(db, plan), selector)
  // `poolWarnings` has said so.
  if (instances?.length === 0) return []
  return capacityWarnings(db, {
    priority: options.priority,
    tenantId: tenant?.id ?? null,
    selector,
    instanceIds: instances?.map(({ id }) => id) ?? null,
  })
}

/** Warns of targets that no online instance matches, and of targets that a matching instance did not reach. */
export async function poolWarnings(
  db: Queryable,
  plan: Plan,
  scope: readonly InstanceSelector[],
  targets: readonly SelectingTarget[],
): Promise<string[]> {
  const { instance_selector: selector } = plan
  if (selector === undefined) return []
  const online = await onlineInstances(db, plan)
  const fit = matching(online, selector)
  if (fit.length > 0) return missedWarnings(db, targets, fit)
  const unmatched = targetPools(scope, targets).filter((pool) => matching(online, pool.selector).length === 0)
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
  instances: readonly OnlineInstance[],
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
