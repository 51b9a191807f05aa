import type { HeldTarget as Held, Static } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import type { ConcurrencyPolicy } from '@slipway/domain'
import { findHolders } from './target-locks.sql.ts'

/** A target that a deployment holds, with its policy. Without the id of a deployment that the tenant may not see. */
export type HeldTarget = Static<typeof Held> & { policy: ConcurrencyPolicy }

/** Targets that somebody asks about. With a tenant, ids of other deployments than its own are left out. */
interface AskedTargets {
  target_ids: readonly string[]
  tenant_id: string | null
}

/** For each list the held targets, those held longest first, at most `limit`. */
export async function readHolders(
  db: Queryable,
  lists: readonly AskedTargets[],
  limit: number,
): Promise<HeldTarget[][]> {
  const asked = lists.flatMap(({ target_ids, tenant_id }, list) => target_ids.map((id) => ({ list, id, tenant_id })))
  const held: HeldTarget[][] = lists.map(() => [])
  if (asked.length === 0) return held
  const rows = await findHolders.all(db, {
    lists: asked.map(({ list }) => list),
    target_ids: asked.map(({ id }) => id),
    tenant_ids: asked.map(({ tenant_id }) => tenant_id),
    limit,
  })
  for (const { list, deployment_id, since, ...target } of rows) {
    const holder = deployment_id === null ? {} : { deployment_id }
    held[list]?.push({ ...target, ...holder, since: since.toISOString() })
  }
  return held
}

/** Says who holds a target, and since when. */
export const targetHeld = (held: Static<typeof Held>) => `The target "${held.target_name}" is ${holderOf(held)}`

export const holderOf = ({ deployment_id, since }: Static<typeof Held>) =>
  `held by ${deployment_id === undefined ? 'another deployment' : `deployment ${deployment_id}`} since ${since}`
