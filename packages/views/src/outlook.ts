import type { Queryable } from '@slipway/database'
import { COMPATIBLE_VERSION } from '@slipway/runtime'
import { hasVersion, LOST_AFTER } from './instances.ts'

/** Instances that may be given runs, their slots, and how many of these are taken. */
export interface Capacity {
  instances: number
  slots: number
  taken: number
}

/** What the queue waits for, as things are. */
export interface Outlook {
  now: Date
  /** Instances that joined, and how many of them are of another version, are lost, are draining or accept no runs. */
  enrolled: number
  foreign: number
  lost: number
  draining: number
  refusing: number
  /** Those that may be given runs of all tenants. */
  shared: Capacity
  /** Those that may be given runs of one tenant only, by tenant. */
  own: Record<string, Capacity>
  /** How long the last runs held their slots, on average; null while there are too few of them. */
  run_seconds: number | null
  tenant_limit: number | null
  /** Deployments that run, by tenant; only under a limit. */
  running: Record<string, number>
}

/** Runs that an estimate is made from, and how few are too few. */
const RECENT = 100
const FEWEST = 5

/** Tells of all instances; of running deployments only what the connection may see. */
export async function readOutlook(db: Queryable): Promise<Outlook> {
  const { rows } = await db.query<Outlook>(
    `WITH known AS MATERIALIZED (
       SELECT id, tenant_id, draining, accepts_runs, coalesce(last_heartbeat_at > now() - interval '${LOST_AFTER}', false) AS living,
              ${hasVersion('$1')} AS compatible
         FROM instances WHERE removed_at IS NULL
     ), capacity AS MATERIALIZED (
       SELECT k.tenant_id, json_build_object('instances', count(DISTINCT k.id), 'slots', count(s.slot),
                                             'taken', count(l.epoch)) AS its
         FROM known k JOIN instance_slots s ON s.instance_id = k.id AND NOT s.retired
         LEFT JOIN leases l ON l.instance_id = s.instance_id AND l.slot = s.slot AND l.ended_at IS NULL
        WHERE k.compatible AND k.living AND k.accepts_runs AND NOT k.draining
        GROUP BY k.tenant_id
     )
     SELECT now() AS now, i.*,
            coalesce((SELECT its FROM capacity WHERE tenant_id IS NULL), '{"instances":0,"slots":0,"taken":0}') AS shared,
            coalesce((SELECT json_object_agg(tenant_id, its) FROM capacity WHERE tenant_id IS NOT NULL), '{}') AS own, s.tenant_running_limit AS tenant_limit, coalesce(t.running, '{}') AS running,
            CASE WHEN r.runs >= ${FEWEST} THEN r.seconds END AS run_seconds
       FROM queue_settings s,
            (SELECT count(*) AS enrolled, count(*) FILTER (WHERE NOT compatible) AS foreign,
                    count(*) FILTER (WHERE compatible AND NOT living) AS lost,
                    count(*) FILTER (WHERE compatible AND living AND draining) AS draining,
                    count(*) FILTER (WHERE compatible AND living AND NOT draining AND NOT accepts_runs) AS refusing
               FROM known) i,
            (SELECT count(*) AS runs, extract(epoch FROM avg(ended_at - acquired_at))::float8 AS seconds
               FROM (SELECT acquired_at, ended_at FROM leases WHERE end_reason = 'finished'
                      ORDER BY epoch DESC LIMIT ${RECENT}) recent) r,
            LATERAL (SELECT json_object_agg(tenant_id, running) AS running
               FROM (SELECT tenant_id, count(*) AS running FROM deployments
                      WHERE completed_at IS NULL AND tenant_id IS NOT NULL AND s.tenant_running_limit IS NOT NULL
                      GROUP BY tenant_id) counted) t`,
    [COMPATIBLE_VERSION],
  )
  const [outlook] = rows
  if (outlook === undefined) throw new Error('There are no settings of the queue')
  return outlook
}
