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
import { type PendingViewer, pendingItems } from './pending.ts'
import { targetItems } from './targets.ts'
import type { ViewContext } from './variables.ts'

export interface ItemContext extends ViewContext {
  /** Who reads the items. Streams and webhooks have many readers of a tenant: none of them may override freezes, or approves. */
  viewer: PendingViewer
}

/** Reads one list item; null if the record is deleted. See `listItems`. */
export async function listItem(context: ItemContext, kind: ItemKind, id: string): Promise<object | null> {
  return (await listItems(context, kind, [id])).get(id) ?? null
}

/**
 * Reads list items by id, without deleted records. The caller and the tenant of the connection decide which records a user may
 * see. `db` must be a transaction if the connection does not see all tenants.
 */
export async function listItems(
  context: ItemContext,
  kind: ItemKind,
  ids: readonly string[],
): Promise<Map<string, { tenant_id?: string | null }>> {
  const items = await readItems(context, kind, ids)
  return new Map(items.map((item) => [item.id, item]))
}

async function readItems(context: ItemContext, kind: ItemKind, ids: readonly string[]): Promise<Item[]> {
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
      return pendingItems(db, context.viewer, findRequests.all(db, { ids }))
    case 'target':
      return targetItems(context, await findTargets.all(db, { ids }))
  }
}
