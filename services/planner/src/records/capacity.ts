import type { Queryable } from '@slipway/database'
import { COMPATIBLE_VERSION } from '@slipway/runtime'
import { findCapacity } from './capacity.sql.ts'

/** Warns if a deployment of this priority would not start at once at this moment. The dispatcher decides later. */
export async function capacityWarnings(
  database: Queryable,
  { priority = 0, tenantId }: { priority?: number | undefined; tenantId: string | null },
): Promise<string[]> {
  const version = COMPATIBLE_VERSION
  const now = await findCapacity.one(database, { version, priority, tenant_id: tenantId })
  if (!now.living) {
    return ['No compatible orchestration instance is online: the deployment would be queued until one is']
  }
  if (!now.free) return ['No orchestration instance is free: the deployment would be queued']
  return now.others ? ['Other requests wait that come first: the deployment may be queued'] : []
}
