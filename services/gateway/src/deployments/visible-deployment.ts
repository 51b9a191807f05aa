import type { Queryable } from '@slipway/database'
import type { Viewer } from '@slipway/database/read-models'
import { isUuid, notFound } from '@slipway/domain'
import { VISIBLE } from './visible-deployment.sql.ts'

/** @throws Problem NOT_FOUND, also for a record that the viewer may not see */
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
