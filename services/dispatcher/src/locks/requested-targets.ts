import { isAnyPolicy, type Queryable } from '@slipway/database'
import type { Plan } from '@slipway/domain'
import { findLocked, findWanted, replaceWanted } from './locks.sql.ts'

/** The targets that claimed requests lock, by id of the request. */
export interface WantedLocks {
  locks: ReadonlyMap<string, readonly string[]>
  /** Requests that need more targets than is stored, because a policy has changed. They must be decided again. */
  renewed: ReadonlySet<string>
}

interface PlannedRequest {
  id: string
  command: { plan: Plan }
}

const NONE: WantedLocks = { locks: new Map(), renewed: new Set() }

/** The targets that requests lock by the policies of now. Stores what they need if it is more than before. */
export async function renewRequestedTargets(tx: Queryable, requests: readonly PlannedRequest[]): Promise<WantedLocks> {
  if (requests.length === 0 || !(await isAnyPolicy.one(tx)).any) return NONE
  const [found, stored] = await Promise.all([
    findLocked.all(tx, {
      lists: requests.map(({ command: { plan } }) => ({ target_ids: plan.targets.map(({ id }) => id) })),
    }),
    findWanted.all(tx, { request_ids: requests.map(({ id }) => id) }),
  ])
  const lists = new Map(found.map(({ list, target_ids }) => [list - 1, target_ids]))
  const locks = new Map(requests.map(({ id }, list) => [id, lists.get(list) ?? []]))
  const keys = new Set(stored.map(({ request_id, target_id }) => `${request_id} ${target_id}`))
  const isStored = (id: string) => (locks.get(id) ?? []).every((target) => keys.has(`${id} ${target}`))
  const renewed = requests.map(({ id }) => id).filter((id) => !isStored(id))
  await storeRequestedTargets(
    tx,
    renewed.map((id) => ({ id, targets: locks.get(id) ?? [] })),
  )
  return { locks, renewed: new Set(renewed) }
}

/** Stores the targets that pending requests need. */
export async function storeRequestedTargets(
  tx: Queryable,
  requests: readonly { id: string; targets: readonly string[] }[],
): Promise<void> {
  if (requests.length === 0) return
  await replaceWanted.run(tx, {
    requested: requests.flatMap(({ id, targets }) => targets.map((target_id) => ({ request_id: id, target_id }))),
    all_ids: requests.map(({ id }) => id),
  })
}
