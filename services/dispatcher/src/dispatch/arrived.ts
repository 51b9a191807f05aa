import type { CommandBody } from '@slipway/contracts'
import { LOCK_KEYS_BY_VALUE, type Queryable } from '@slipway/database'
import { ANY_ORPHAN } from '../leases/orphans.ts'
import { rankBehind } from '../pending/queue.ts'

/** A command as it came. */
export interface Arrived {
  command: CommandBody<'deployment.start'>
  deadline?: string | undefined
  request_id: string | null
  traceparent: string | null
}

/** Of two copies of a command that come at once, the second waits here and then finds what the first did. */
export async function serialize(tx: Queryable, arrived: readonly Arrived[]): Promise<void> {
  const ids = arrived.map(({ command }) => command.command_id).sort()
  await tx.query(
    `SELECT pg_advisory_xact_lock(${LOCK_KEYS_BY_VALUE.command('id')}) FROM unnest($1::text[]) AS c (id)`,
    [ids],
  )
}

/** What the database says of a command at the moment. */
export interface Look {
  started: boolean
  queued: boolean
  past: boolean
  /** What would be its rank; null when nothing waits that comes first. */
  waiting: number | null
  /** Whether some deployment has lost its instance. */
  orphaned: boolean
}

export async function lookAt(tx: Queryable, arrived: readonly Arrived[]): Promise<Look[]> {
  const { rows } = await tx.query<Look>(
    // Not EXISTS, of which Postgres, that knows little of new tables, makes a hash of all deployments.
    `SELECT (SELECT true FROM deployments d WHERE d.id = c.id) IS NOT NULL AS started,
            (SELECT true FROM pending_requests p WHERE p.id = c.id) IS NOT NULL AS queued,
            coalesce(clock_timestamp() > c.deadline, false) AS past,
            ${rankBehind('c.priority')} AS waiting,
            (SELECT ${ANY_ORPHAN}) AS orphaned
       FROM unnest($1::uuid[], $2::timestamptz[], $3::int[]) WITH ORDINALITY AS c (id, deadline, priority, place)
      ORDER BY c.place`,
    [
      arrived.map(({ command }) => command.command_id),
      arrived.map(({ deadline }) => deadline ?? null),
      arrived.map(({ command }) => command.plan.options.priority),
    ],
  )
  return rows
}
