import type { HeldTarget } from './blockers.ts'

/** A held target as a viewer sees it: without the id of a deployment of another tenant. */
export interface ShownHolder {
  target_id: string
  target_name: string
  deployment_id?: string
  since: string
}

/** A viewer without a tenant sees all. */
export function shownHolder({ id, name, holder }: HeldTarget, viewerTenant: string | null): ShownHolder {
  const isVisible = viewerTenant === null || viewerTenant === holder.tenant_id
  return {
    target_id: id,
    target_name: name,
    ...(isVisible ? { deployment_id: holder.deployment_id } : {}),
    since: holder.since.toISOString(),
  }
}

/** Those held longest first. */
export const byHoldingTime = (one: HeldTarget, other: HeldTarget): number =>
  one.holder.since.getTime() - other.holder.since.getTime() ||
  (one.name < other.name ? -1 : one.name > other.name ? 1 : one.id < other.id ? -1 : 1)

/** Says who holds a target, and since when. */
export const targetHeld = (held: ShownHolder) => `The target "${held.target_name}" is ${heldBy(held)}`

export const heldBy = ({ deployment_id, since }: ShownHolder) =>
  `held by ${deployment_id === undefined ? 'another deployment' : `deployment ${deployment_id}`} since ${since}`
