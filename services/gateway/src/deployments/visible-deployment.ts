import type { Queryable } from '@slipway/database'
import { isUuid, notFound } from '@slipway/domain'
import type { Viewer } from '../tenancy/visibility.ts'
import { VISIBLE } from './visible-deployment.sql.ts'

/**
 * The record of this id, if the viewer may see it.
 * @throws Problem NOT_FOUND
 */
export async function requireVisible(
  db: Queryable,
  { tenant_id }: Viewer,
  kind: keyof typeof VISIBLE,
  id: string,
): Promise<{ id: string; tenant_id: string | null }> {
  const record = isUuid(id) ? await VISIBLE[kind].first(db, { id, tenant_id }) : null
  if (record === null) throw notFound(`The ${kind}`)
  return record
}
