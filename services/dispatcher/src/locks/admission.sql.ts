import { array, LOCK_KEYS, LOCK_KEYS_BY_VALUE, statement, text } from '@slipway/database'

/** How long a dispatcher that has vanished keeps the others from deciding. */
const VANISHED_AFTER_MS = 5_000

/** SQL: locks commands. A second copy of a command waits here, and then finds what the first one did. */
const EACH_COMMAND = `unnest(:command_ids::text[]) AS c (id), LATERAL pg_advisory_xact_lock(${LOCK_KEYS_BY_VALUE.command('id')})`

export const lockCommands = statement({
  name: 'dispatcher.admission.lock-commands',
  parameters: { command_ids: array(text) },
  sql: `SELECT FROM ${EACH_COMMAND}`,
})

/**
 * Locks commands, then admission: only one dispatcher at a time decides what starts. Postgres ends the session of a dispatcher that
 * sends nothing for 5 s while it holds the lock.
 */
export const lockAdmission = statement({
  name: 'dispatcher.admission.lock',
  parameters: { command_ids: array(text) },
  sql: `WITH commands AS MATERIALIZED (SELECT count(*) AS locked FROM ${EACH_COMMAND})
    SELECT FROM commands, LATERAL (
      SELECT set_config('idle_in_transaction_session_timeout', '${VANISHED_AFTER_MS}', true),
             pg_advisory_xact_lock(${LOCK_KEYS.admission}) WHERE commands.locked >= 0) admission`,
})
