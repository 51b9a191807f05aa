import type { Queryable } from '@slipway/database'
import type { MaybeSelector } from '@slipway/domain'
import { COMPATIBLE_VERSION } from '@slipway/runtime'
import { findCapacity } from './capacity.sql.ts'

interface CapacityRequirement {
  priority: number
  tenantId: string | null
  selector: MaybeSelector
  /** The instances that match the selector; null for any. */
  instanceIds: readonly string[] | null
}

/** Warns if a deployment of this priority would not start at once at this moment. The dispatcher decides later. */
export async function capacityWarnings(
  database: Queryable,
  { priority, tenantId, selector, instanceIds }: CapacityRequirement,
): Promise<string[]> {
  const now = await findCapacity.one(database, {
    version: COMPATIBLE_VERSION,
    priority,
    tenant_id: tenantId,
    selector,
    any: instanceIds === null,
    instance_ids: instanceIds ?? [],
  })
  const which = selector === null ? '' : ' that the targets need'
  if (!now.living) {
    return [`No compatible orchestration instance${which} is online: the deployment would be queued until one is`]
  }
  if (!now.free) return [`No orchestration instance${which} is free: the deployment would be queued`]
  return now.others ? ['Other requests wait that come first: the deployment may be queued'] : []
}
