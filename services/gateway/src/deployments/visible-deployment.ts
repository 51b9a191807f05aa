import type { Queryable } from '@slipway/database'
import { isUuid, notFound } from '@slipway/domain'
import { ownSql, type Viewer } from '../tenancy/visibility.ts'

const TABLES = { deployment: 'deployments', 'pending request': 'pending_requests' } as const

/**
 * The record of this id, if the viewer may see it.
 * @throws Problem NOT_FOUND
 */
export async function requireVisible(
  db: Queryable,
  viewer: Viewer,
  kind: keyof typeof TABLES,
  id: string,
): Promise<{ id: string; tenant_id: string | null }> {
  const { rows } = isUuid(id)
    ? await db.query<{ id: string; tenant_id: string | null }>(
        `SELECT r.id, r.tenant_id FROM ${TABLES[kind]} r WHERE r.id = $2 AND ${ownSql('r', '$1')}`,
        [viewer.tenant_id, id],
      )
    : { rows: [] }
  const [record] = rows
  if (record === undefined) throw notFound(`The ${kind}`)
  return record
}
