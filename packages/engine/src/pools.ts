import { type MaybeSelector, matchesLabels, poolName } from '@slipway/domain'
import type { IdleReason, Instance } from './snapshot.ts'

/** What a request needs of its instance. */
export interface PoolUser {
  tenant_id: string | null
  selector: MaybeSelector
}

/** The instances that serve a request, counted. */
export interface PoolState {
  name: string
  selector: MaybeSelector
  /** Instances that serve the tenant. */
  known: number
  /** Those of them that have the labels. */
  matching: number
  /** Those of them that take runs, with their slots. */
  accepting: number
  slots: number
  taken: number
  /** Those that match and take no runs, by reason. */
  idle: Readonly<Record<IdleReason, number>>
  /** All instances that have joined, also those that serve other tenants only. */
  enrolled: number
}

/** Which instances a pool has, by the list of all instances: thousands of requests have few pools. */
const known = new WeakMap<readonly Instance[], Map<string, readonly Instance[]>>()

/** The instances that may run deployments of this tenant and have the labels, whether they take runs or not. */
export function instancesOf<I extends Instance>(
  instances: readonly I[],
  { tenant_id, selector }: PoolUser,
): readonly I[]
export function instancesOf(instances: readonly Instance[], { tenant_id, selector }: PoolUser): readonly Instance[] {
  const pools = known.get(instances) ?? new Map<string, readonly Instance[]>()
  known.set(instances, pools)
  const key = `${tenant_id} ${selector === null ? '' : JSON.stringify(selector)}`
  const found =
    pools.get(key) ??
    instances.filter((instance) => serves(instance, tenant_id) && matchesLabels(selector, instance.labels))
  pools.set(key, found)
  return found
}

/** Whether an instance takes runs in its free slots. */
export const takesRuns = ({ idle }: Instance): boolean => idle === null

const serves = (instance: Instance, tenantId: string | null) =>
  instance.tenant_id === null || instance.tenant_id === tenantId

export function poolState(instances: readonly Instance[], user: PoolUser): PoolState {
  const matching = instancesOf(instances, user)
  const accepting = matching.filter(takesRuns)
  const count = (reason: IdleReason) => matching.filter(({ idle }) => idle === reason).length
  return {
    name: poolName(user.selector),
    selector: user.selector,
    known: instances.filter((instance) => serves(instance, user.tenant_id)).length,
    matching: matching.length,
    accepting: accepting.length,
    slots: accepting.reduce((total, { slots }) => total + slots, 0),
    taken: accepting.reduce((total, { taken }) => total + taken, 0),
    idle: { foreign: count('foreign'), lost: count('lost'), draining: count('draining'), refusing: count('refusing') },
    enrolled: instances.length,
  }
}
