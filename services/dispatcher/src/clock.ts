import type { Queryable } from '@slipway/database'

/** Whether a command's deadline is over, by the database's clock. A command without one never is. */
export async function isPast(tx: Queryable, deadline: string | undefined): Promise<boolean> {
  if (deadline === undefined) return false
  const { rows } = await tx.query<{ past: boolean }>('SELECT clock_timestamp() > $1::timestamptz AS past', [deadline])
  return rows[0]?.past ?? false
}
