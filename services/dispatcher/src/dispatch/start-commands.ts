import type { CommandBody } from '@slipway/contracts'
import { LOCK_KEYS_BY_VALUE, type Queryable } from '@slipway/database'
import { ANY_ORPHAN } from '../leases/leases.sql.ts'
import { rankBehind } from '../pending/queue.ts'

/** A `deployment.start` command with what its message says besides the body. */
export interface StartCommand {
  command: CommandBody<'deployment.start'>
  deadline?: string | undefined
  request_id: string | null
  traceparent: string | null
}

/** Locks the commands. A second copy of a command waits here, and then finds what the first one did. */
export async function lockCommands(tx: Queryable, commands: readonly StartCommand[]): Promise<void> {
  const ids = commands.map(({ command }) => command.command_id).sort()
  await tx.query(
    `SELECT pg_advisory_xact_lock(${LOCK_KEYS_BY_VALUE.command('id')}) FROM unnest($1::text[]) AS c (id)`,
    [ids],
  )
}

/** What the database says about a command now. */
export interface CommandStatus {
  started: boolean
  queued: boolean
  /** Whether the deadline is over. */
  past: boolean
  /** The rank that the request would have; null when no pending request comes before it. */
  waiting: number | null
  /** Whether any deployment has lost its instance. */
  orphaned: boolean
}

export async function readStatus(tx: Queryable, commands: readonly StartCommand[]): Promise<CommandStatus[]> {
  const { rows } = await tx.query<CommandStatus>(
    // Scalar subqueries, not EXISTS: on a table without statistics Postgres plans EXISTS as a hash of every deployment.
    `SELECT (SELECT true FROM deployments d WHERE d.id = c.id) IS NOT NULL AS started,
            (SELECT true FROM pending_requests p WHERE p.id = c.id) IS NOT NULL AS queued,
            coalesce(clock_timestamp() > c.deadline, false) AS past,
            ${rankBehind('c.priority')} AS waiting,
            (SELECT ${ANY_ORPHAN}) AS orphaned
       FROM unnest($1::uuid[], $2::timestamptz[], $3::int[]) WITH ORDINALITY AS c (id, deadline, priority, place)
      ORDER BY c.place`,
    [
      commands.map(({ command }) => command.command_id),
      commands.map(({ deadline }) => deadline ?? null),
      commands.map(({ command }) => command.plan.options.priority),
    ],
  )
  return rows
}
