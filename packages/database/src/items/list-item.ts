import type { Queryable } from '../database.ts'
import { SUMMARY, withProgress } from './deployments.ts'
import { type FreezeRow, freezeItem } from './freezes.ts'
import { INSTANCE } from './instances.ts'
import { jsonObject } from './json.ts'
import { type TargetRow, targetItems } from './targets.ts'
import type { Looking } from './variables.ts'
import { pendingItems } from './waiting.ts'

/** Kinds of record of whose changes others are told. */
export type ItemKind = 'deployment' | 'pending' | 'target' | 'freeze' | 'instance'

const SQL: Partial<Record<ItemKind, string>> = {
  deployment: `SELECT ${jsonObject(SUMMARY)} AS item FROM ${withProgress('deployments')} WHERE d.id = $1`,
  instance: `SELECT ${INSTANCE} AS item FROM instances i WHERE i.id = $1 AND i.removed_at IS NULL`,
}

const ONE_PENDING = `FROM (SELECT q.*, CASE WHEN q.status = 'pending' THEN waiting_position(q.rank, q.id) END AS position
                       FROM pending_requests q WHERE q.id = $1) r`

/**
 * One record as the API's list shows it to this viewer; null when it is gone. What the viewer may see is not judged
 * here but by whoever asks, and by the connection.
 */
export async function listItem(looking: Looking, kind: ItemKind, id: string): Promise<object | null> {
  if (kind === 'target') return (await targetItems(looking, await targetRows(looking.db, id)))[0] ?? null
  if (kind === 'pending') {
    const [item] = await pendingItems(looking.db, ONE_PENDING, [id])
    return item === undefined ? null : JSON.parse(item)
  }
  if (kind === 'freeze') {
    const { rows } = await looking.db.query<FreezeRow>(
      `SELECT id, name, description, start_time, end_time, recurrence, start_offset, time_zone, tenant_id, environment_id,
              solution_id, created_by, created_at, updated_at
         FROM freezes WHERE id = $1`,
      [id],
    )
    return rows[0] === undefined ? null : freezeItem(rows[0])
  }
  const { rows } = await looking.db.query<{ item: object }>(SQL[kind] ?? '', [id])
  return rows[0]?.item ?? null
}

async function targetRows(db: Queryable, id: string): Promise<TargetRow[]> {
  const { rows } = await db.query<TargetRow>(
    `SELECT t.*, coalesce((SELECT json_agg(json_build_object('key', g.key, 'value', g.value) ORDER BY g.key, g.value)
                             FROM target_tags g WHERE g.target_id = t.id), '[]') AS tags
       FROM targets t WHERE t.id = $1`,
    [id],
  )
  return rows
}
