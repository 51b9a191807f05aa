import {
  ANY_POLICY,
  array,
  bool,
  int4,
  int8,
  LOCK_KEYS_BY_VALUE,
  nullable,
  statement,
  text,
  timestamptz,
  uuid,
} from '@slipway/database'
import { ANY_ORPHAN } from '../leases/leases.sql.ts'
import { ANY_POOLED, rankBehind } from '../pending/queue.sql.ts'

export const lockCommandIds = statement({
  name: 'dispatcher.start-commands.lock',
  parameters: { ids: array(text) },
  sql: `SELECT FROM unnest(:ids::text[]) AS c (id), LATERAL pg_advisory_xact_lock(${LOCK_KEYS_BY_VALUE.command('id')})`,
})

/**
 * The status of commands: `past` if the deadline is over; `rank_behind` is the rank that the request would get, null if no pending
 * request comes first; `orphaned` if any deployment has lost its instance; `any_policy` if a target may have to be locked;
 * `any_pooled` if a pending request requires labels of its instance. Scalar subqueries, not EXISTS: on a table without statistics
 * Postgres plans EXISTS as a hash of every deployment, and `create` misses goal 1.
 */
export const findStatus = statement({
  name: 'dispatcher.start-commands.find-status',
  parameters: { ids: array(uuid), deadlines: array(nullable(timestamptz)), priorities: array(int4) },
  row: {
    ...{ started: bool, queued: bool, past: bool, rank_behind: nullable(int8) },
    ...{ orphaned: bool, any_policy: bool, any_pooled: bool },
  },
  sql: `SELECT (SELECT true FROM deployments d WHERE d.id = c.id) IS NOT NULL AS started,
           (SELECT true FROM pending_requests p WHERE p.id = c.id) IS NOT NULL AS queued,
           coalesce(clock_timestamp() > c.deadline, false) AS past,
           ${rankBehind('c.priority')} AS rank_behind,
           (SELECT ${ANY_ORPHAN}) AS orphaned, (SELECT ${ANY_POLICY}) AS any_policy, (SELECT ${ANY_POOLED}) AS any_pooled
      FROM unnest(:ids::uuid[], :deadlines::timestamptz[], :priorities::int[])
           WITH ORDINALITY AS c (id, deadline, priority, place)
     ORDER BY c.place`,
})
