import type { WebhookEvent } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { isUuid, notFound } from '@slipway/domain'
import { escapeLike } from '../catalog/listing.ts'
import { ownSql, type Viewer } from '../tenancy/visibility.ts'

/** A webhook as answers show it. */
export interface WebhookRecord {
  id: string
  tenant_id: string | null
  url: string
  events: WebhookEvent[]
  enabled: boolean
  disabled_reason: string | null
  created_at: Date
  updated_at: Date
}

export const COLUMNS = 'w.id, w.tenant_id, w.url, w.events, w.enabled, w.disabled_reason, w.created_at, w.updated_at'

const MATCHING = `FROM webhooks w WHERE ${ownSql('w', '$1')} AND w.url ILIKE $2`
const patternOf = (search: string | undefined) => `%${escapeLike(search ?? '')}%`

export async function countWebhooks(db: Queryable, viewer: Viewer, search: string | undefined): Promise<number> {
  const { rows } = await db.query<{ count: number }>(`SELECT count(*) ${MATCHING}`, [
    viewer.tenant_id,
    patternOf(search),
  ])
  return rows[0]?.count ?? 0
}

export async function listWebhooks(
  db: Queryable,
  viewer: Viewer,
  { search, skip, take }: { search: string | undefined; skip: number; take: number },
): Promise<WebhookRecord[]> {
  const { rows } = await db.query<WebhookRecord>(
    `SELECT ${COLUMNS} ${MATCHING} ORDER BY w.created_at DESC, w.id DESC LIMIT $3 OFFSET $4`,
    [viewer.tenant_id, patternOf(search), take, skip],
  )
  return rows
}

/** @throws Problem NOT_FOUND, also for those of no tenant where the viewer is bound to one */
export async function findWebhook(
  db: Queryable,
  viewer: Viewer,
  id: string,
  lock: 'FOR UPDATE' | '' = '',
): Promise<WebhookRecord> {
  const { rows } = isUuid(id)
    ? await db.query<WebhookRecord>(
        `SELECT ${COLUMNS} FROM webhooks w WHERE w.id = $2 AND ${ownSql('w', '$1')} ${lock}`,
        [viewer.tenant_id, id],
      )
    : { rows: [] }
  const [webhook] = rows
  if (webhook === undefined) throw notFound('The webhook')
  return webhook
}
