import {
  float8,
  hasVersion,
  int4,
  int8,
  json,
  LOST_AFTER,
  nullable,
  statement,
  text,
  timestamptz,
} from '@slipway/database'

/** Instances that accept runs, their slots, and how many slots are leased. */
export interface Capacity {
  instances: number
  slots: number
  taken: number
}

/**
 * Why requests are pending: how many instances get no runs, by reason; the capacity of the others; and the duration of the last
 * runs, null if there are too few. Running deployments are counted only if there is a limit.
 */
export const findOutlook = statement({
  name: 'views.outlook.find',
  parameters: { version: text, fewest: int4, recent: int8 },
  row: {
    now: timestamptz,
    enrolled: int8,
    foreign: int8,
    lost: int8,
    draining: int8,
    refusing: int8,
    shared: json<Capacity>(),
    own: json<Record<string, Capacity>>(),
    tenant_limit: nullable(int4),
    running: json<Record<string, number>>(),
    run_seconds: nullable(float8),
  },
  sql: `WITH known AS (
      SELECT id, tenant_id, draining, accepts_runs, ${hasVersion(':version')} AS compatible,
             coalesce(last_heartbeat_at > now() - interval '${LOST_AFTER}', false) AS living
        FROM instances WHERE removed_at IS NULL
    ), capacity AS (
      SELECT k.tenant_id, json_build_object('instances', count(DISTINCT k.id), 'slots', count(s.slot),
                                            'taken', count(l.epoch)) AS its
        FROM known k JOIN instance_slots s ON s.instance_id = k.id AND NOT s.retired
        LEFT JOIN leases l ON l.instance_id = s.instance_id AND l.slot = s.slot AND l.ended_at IS NULL
       WHERE k.compatible AND k.living AND k.accepts_runs AND NOT k.draining
       GROUP BY k.tenant_id
    )
    SELECT now() AS now, i.*,
           coalesce((SELECT its FROM capacity WHERE tenant_id IS NULL), '{"instances":0,"slots":0,"taken":0}') AS shared,
           coalesce((SELECT json_object_agg(tenant_id, its) FROM capacity WHERE tenant_id IS NOT NULL), '{}') AS own,
           s.tenant_running_limit AS tenant_limit, coalesce(t.running, '{}') AS running,
           CASE WHEN r.runs >= :fewest::int4 THEN r.seconds END AS run_seconds
      FROM queue_settings s,
           (SELECT count(*) AS enrolled, count(*) FILTER (WHERE NOT compatible) AS foreign,
                   count(*) FILTER (WHERE compatible AND NOT living) AS lost,
                   count(*) FILTER (WHERE compatible AND living AND draining) AS draining,
                   count(*) FILTER (WHERE compatible AND living AND NOT draining AND NOT accepts_runs) AS refusing
              FROM known) i,
           (SELECT count(*) AS runs, extract(epoch FROM avg(ended_at - acquired_at))::float8 AS seconds
              FROM (SELECT acquired_at, ended_at FROM leases WHERE end_reason = 'finished'
                     ORDER BY epoch DESC LIMIT :recent) recent) r,
           LATERAL (SELECT json_object_agg(tenant_id, running) AS running
              FROM (SELECT tenant_id, count(*) AS running FROM deployments
                     WHERE completed_at IS NULL AND NOT is_check AND tenant_id IS NOT NULL AND s.tenant_running_limit IS NOT NULL
                     GROUP BY tenant_id) counted) t`,
})
