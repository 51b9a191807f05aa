import { windowAt } from '@slipway/domain'

export interface FreezeRow {
  id: string
  name: string
  description: string | null
  start_time: Date
  end_time: Date
  recurrence: string | null
  start_offset: string | null
  time_zone: string | null
  tenant_id: string | null
  environment_id: string | null
  solution_id: string | null
  created_by: string | null
  created_at: Date
  updated_at: Date
}

/** A freeze as lists show it. */
export const freezeItem = ({ start_offset, ...row }: FreezeRow) => ({
  ...row,
  active: windowAt({ ...row, start_offset }, new Date()) !== null,
})
