import type { Queryable } from '@slipway/database'
import { addSlots, retireSlots } from './instances.sql.ts'

/**
 * Gives an instance as many usable slots as its capacity, numbered from 0. Slots beyond it are retired, not removed:
 * leases refer to them, and their runs may end.
 */
export async function setSlots(tx: Queryable, instanceId: string, capacity: number): Promise<void> {
  await addSlots.run(tx, { id: instanceId, capacity })
  await retireSlots.run(tx, { id: instanceId, capacity })
}
