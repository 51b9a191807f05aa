import type { ItemKind } from '@slipway/contracts'
import { freezeItem } from './freezes.ts'
import { findDeploymentItems, findFreezes, findInstanceItems, findTargets, type Item } from './list-item.sql.ts'
import { findRequests } from './pending.sql.ts'
import { targetItems } from './targets.ts'
import type { Looking } from './variables.ts'
import { pendingItems } from './waiting.ts'

/** One record as the API's list shows it; null when it is gone. See `listItems`. */
export async function listItem(looking: Looking, kind: ItemKind, id: string): Promise<object | null> {
  return (await listItems(looking, kind, [id])).get(id) ?? null
}

/**
 * Records as the API's lists show them, by id, without those that are gone. The caller and the tenant of the connection
 * decide who may see a record.
 */
export async function listItems(
  looking: Looking,
  kind: ItemKind,
  ids: readonly string[],
): Promise<Map<string, { tenant_id?: string | null }>> {
  const items = await itemsOf(looking, kind, ids)
  return new Map(items.map((item) => [item.id, item]))
}

async function itemsOf(looking: Looking, kind: ItemKind, ids: readonly string[]): Promise<Item[]> {
  const { db } = looking
  switch (kind) {
    case 'deployment':
      return (await findDeploymentItems.all(db, { ids })).map(({ item }) => item)
    case 'freeze':
      return (await findFreezes.all(db, { ids })).map(freezeItem)
    case 'instance':
      return (await findInstanceItems.all(db, { ids })).map(({ item }) => item)
    case 'pending':
      return pendingItems(db, findRequests.all(db, { ids }))
    case 'target':
      return targetItems(looking, await findTargets.all(db, { ids }))
  }
}
