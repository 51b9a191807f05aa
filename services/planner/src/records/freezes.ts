import type { Queryable } from '@slipway/database'
import type { Freeze } from '@slipway/domain'

export interface FreezesNow {
  freezes: Freeze[]
  /** The database's clock: the only one that judges freezes. */
  now: Date
}

/** The freezes that have not ended or come again, and the moment at which that was true. */
export async function loadFreezes(database: Queryable): Promise<FreezesNow> {
  const { rows } = await database.query<FreezesNow>(
    `SELECT now() AS now,
            coalesce(json_agg(json_build_object('id', id, 'name', name, 'start_time', start_time, 'end_time', end_time,
              'recurrence', recurrence, 'start_offset', start_offset, 'time_zone', time_zone,
              'tenant_id', tenant_id, 'environment_id', environment_id, 'solution_id', solution_id) ORDER BY end_time, id)
              FILTER (WHERE id IS NOT NULL), '[]') AS freezes
       FROM (SELECT 1) one LEFT JOIN freezes ON end_time > now() OR recurrence IS NOT NULL`,
    [],
  )
  return rows[0] ?? { freezes: [], now: new Date() }
}
