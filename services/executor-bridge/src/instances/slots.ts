import type { Queryable } from '@slipway/database'

/**
 * Gives an instance as many usable slots as its capacity, numbered from 0. Slots beyond it are retired, not removed:
 * leases refer to them, and what runs there may end.
 */
export async function setSlots(tx: Queryable, instanceId: string, capacity: number): Promise<void> {
  await tx.query(
    `INSERT INTO instance_slots (instance_id, slot) SELECT $1, generate_series(0, $2::int - 1)
     ON CONFLICT (instance_id, slot) DO UPDATE SET retired = false WHERE instance_slots.retired`,
    [instanceId, capacity],
  )
  await tx.query('UPDATE instance_slots SET retired = true WHERE instance_id = $1 AND slot >= $2 AND NOT retired', [
    instanceId,
    capacity,
  ])
}
