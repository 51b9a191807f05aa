import { statement } from '../sql/statement.ts'
import { array, bool, int4, jsonb, nullable, oneOf, text, uuid } from '../sql/types.ts'
import { hasVersion, LOST_AFTER } from './fragments.ts'
import { PARKED } from './rules.sql.ts'
import { ANY_ORPHAN } from './runs.sql.ts'

/**
 * All instances that have joined: why each takes no runs, or its free slots. As many slots are read as the new requests, the pending
 * ones and the deployments without an instance can use, at most `most` for the stored ones. The search begins at a random slot: then
 * it reads few leases. The scalar subqueries make Postgres check slot by slot until it has enough, where EXISTS joins all slots first
 * (goal: create latency). Without `exact`, leases are counted only to compare several instances.
 */
export const findInstances = statement({
  name: 'database.snapshot.find-instances',
  parameters: { version: text, requested: int4, most: int4, exact: bool },
  row: {
    id: uuid,
    name: text,
    tenant_id: nullable(uuid),
    labels: jsonb<Record<string, string>>(),
    idle: nullable(oneOf('text', ['foreign', 'lost', 'draining', 'refusing'])),
    slots: int4,
    taken: int4,
    free: array(int4),
  },
  sql: `WITH known AS (
      SELECT id, name, tenant_id, labels, capacity, floor(random() * capacity)::int AS first,
             CASE WHEN NOT ${hasVersion(':version')} THEN 'foreign'
                  WHEN coalesce(last_heartbeat_at, '-infinity') <= now() - interval '${LOST_AFTER}' THEN 'lost'
                  WHEN draining THEN 'draining'
                  WHEN NOT accepts_runs THEN 'refusing' END AS idle
        FROM instances WHERE removed_at IS NULL
    ), counted AS (
      SELECT *, count(*) FILTER (WHERE idle IS NULL) OVER () > 1 AS several FROM known
    ), requested AS (
      SELECT :requested::int + CASE WHEN :most::int = 0 THEN 0 WHEN ${ANY_ORPHAN} THEN :most
               ELSE (SELECT count(*)::int FROM (SELECT FROM pending_requests
                       WHERE status = 'pending' AND (rank < ${PARKED} OR review_at <= now()) LIMIT :most) waiting) END AS slots
    )
    SELECT i.id, i.name, i.tenant_id, i.labels, i.idle, i.capacity AS slots,
           CASE WHEN i.several OR :exact
                THEN (SELECT count(*)::int FROM leases l WHERE l.instance_id = i.id AND l.ended_at IS NULL) ELSE 0 END AS taken,
           CASE WHEN i.idle IS NULL THEN ARRAY(
             SELECT turn.slot
               FROM (SELECT generate_series(i.first, i.first + i.capacity - 1) % i.capacity AS slot) turn
              WHERE (SELECT true FROM instance_slots s
                      WHERE s.instance_id = i.id AND s.slot = turn.slot AND NOT s.retired
                        AND (SELECT true FROM leases l
                              WHERE l.instance_id = s.instance_id AND l.slot = s.slot AND l.ended_at IS NULL) IS NULL)
              LIMIT (SELECT slots FROM requested))
           ELSE '{}' END AS free
      FROM counted i`,
})
