import { windowAt, windowsFrom } from '@slipway/domain'

export interface FreezeRow {
  id: string
  name: string
  description: string | null
  start_time: Date
  end_time: Date
  recurrence: string | null
  start_offset: string | null
  time_zone: string | null
  /** The end of the recurrence, which lists do not show. */
  recurs_until?: Date | null
  /** Not shown either. */
  name_key?: string | null
  tenant_id: string | null
  environment_id: string | null
  solution_id: string | null
  created_by: string | null
  managed_by: string | null
  created_at: Date
  updated_at: Date
}

export function freezeItem({ start_offset, recurs_until: _, name_key: _key, ...row }: FreezeRow) {
  const now = new Date()
  const times = { ...row, start_offset }
  return { ...row, active: windowAt(times, now) !== null, windows: windowsFrom(times, now) }
}
