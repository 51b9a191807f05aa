import type { ItemKind } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { SUMMARY, withProgress } from './deployments.ts'
import { type FreezeRow, freezeItem } from './freezes.ts'
import { INSTANCE } from './instances.ts'
import { jsonObject } from './json.ts'
import { type TargetRow, targetItems } from './targets.ts'
import type { Looking } from './variables.ts'
import { pendingItems } from './waiting.ts'

const SQL = {
  deployment: `SELECT ${jsonObject(SUMMARY)} AS item FROM ${withProgress('deployments')} WHERE d.id = ANY($1::uuid[])`,
  instance: `SELECT ${INSTANCE} AS item FROM instances i WHERE i.id = ANY($1::uuid[]) AND i.removed_at IS NULL`,
}

const PENDING = `FROM (SELECT q.*, CASE WHEN q.status = 'pending' THEN waiting_position(q.rank, q.id) END AS position
                         FROM pending_requests q WHERE q.id = ANY($1::uuid[])) r`

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

interface Item {
  id: string
  tenant_id?: string | null
}

async function itemsOf(looking: Looking, kind: ItemKind, ids: readonly string[]): Promise<Item[]> {
  const { db } = looking
  switch (kind) {
    case 'target':
      return targetItems(looking, await targetRows(db, ids))
    case 'pending':
      return pendingItems(db, PENDING, [ids])
    case 'freeze':
      return (await freezeRows(db, ids)).map(freezeItem)
    default: {
      const { rows } = await db.query<{ item: Item }>(SQL[kind], [ids])
      return rows.map(({ item }) => item)
    }
  }
}

async function freezeRows(db: Queryable, ids: readonly string[]): Promise<FreezeRow[]> {
  const { rows } = await db.query<FreezeRow>(
    `SELECT id, name, description, start_time, end_time, recurrence, start_offset, time_zone, tenant_id, environment_id,
            solution_id, created_by, created_at, updated_at
       FROM freezes WHERE id = ANY($1::uuid[])`,
    [ids],
  )
  return rows
}

async function targetRows(db: Queryable, ids: readonly string[]): Promise<TargetRow[]> {
  const { rows } = await db.query<TargetRow>(
    // Without the secrets of the connection: services that show targets have no right to read them.
    `SELECT t.id, t.number, t.name, t.description, t.tenant_id, t.environment_id, t.connection, t.variables_sealed,
            t.sensitive_variables, t.enabled, t.created_at, t.updated_at,
            coalesce((SELECT json_agg(json_build_object('key', g.key, 'value', g.value) ORDER BY g.key, g.value)
                             FROM target_tags g WHERE g.target_id = t.id), '[]') AS tags
       FROM targets t WHERE t.id = ANY($1::uuid[])`,
    [ids],
  )
  return rows
}
