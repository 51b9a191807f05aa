import type { ItemKind } from '@slipway/contracts'
import { freezeItem } from './freezes.ts'
import {
  findDeploymentItems,
  findFreezes,
  findInstanceItems,
  findReleaseItems,
  findTargets,
  type Item,
} from './list-item.sql.ts'
import { findRequests } from './pending.sql.ts'
import { pendingItems } from './pending.ts'
import { targetItems } from './targets.ts'
import type { ViewContext } from './variables.ts'

/** Reads one list item; null if the record is deleted. See `listItems`. */
export async function listItem(context: ViewContext, kind: ItemKind, id: string): Promise<object | null> {
  return (await listItems(context, kind, [id])).get(id) ?? null
}

/**
 * Reads list items by id, without deleted records. The caller and the tenant of the connection decide which records a user may
 * see.
 */
export async function listItems(
  context: ViewContext,
  kind: ItemKind,
  ids: readonly string[],
): Promise<Map<string, { tenant_id?: string | null }>> {
  const items = await readItems(context, kind, ids)
  return new Map(items.map((item) => [item.id, item]))
}

async function readItems(context: ViewContext, kind: ItemKind, ids: readonly string[]): Promise<Item[]> {
  const { db } = context
  switch (kind) {
    case 'deployment':
      return (await findDeploymentItems.all(db, { ids })).map(({ item }) => item)
    case 'freeze':
      return (await findFreezes.all(db, { ids })).map(freezeItem)
    case 'instance':
      return (await findInstanceItems.all(db, { ids })).map(({ item }) => item)
    case 'release':
      return (await findReleaseItems.all(db, { ids })).map(({ item }) => item)
    case 'pending':
      return pendingItems(db, findRequests.all(db, { ids }))
    case 'target':
      return targetItems(context, await findTargets.all(db, { ids }))
  }
}
