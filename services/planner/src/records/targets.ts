import { LOST_AFTER, type Queryable, targetStatus } from '@slipway/database'
import type { TargetStatus, TargetTag } from '@slipway/domain'
import { references, uuidsOf } from './ids.ts'
import { type Caller, visible } from './visibility.ts'

export interface TargetRecord {
  id: string
  number: number
  name: string
  tenant_id: string | null
  environment_id: string | null
  enabled: boolean
  variables_sealed: string | null
  status: TargetStatus
  /** Only those of its tags that the selection names; null for none. */
  tags: TargetTag[] | null
}

/** What a request chose, ids as they were written. */
export interface RequestedTargets {
  target_ids: readonly string[]
  target_tags: readonly TargetTag[]
}

export interface TargetCandidates {
  records: TargetRecord[]
  /** The UUID of each given id that names a candidate. */
  uuids: Map<string, string>
}

/**
 * Every target that the caller may use and that is named, or carries any of the tags, with its status. A local or
 * simulated target is seen whenever an instance is; the others when something reached them. Each id is looked up by
 * itself and has its tags with it: where lists are joined, Postgres, which knows nothing of targets that have just come,
 * compares each of thousands with all the others.
 */
export async function loadTargets(
  database: Queryable,
  caller: Caller,
  { target_ids: ids, target_tags: tags }: RequestedTargets,
): Promise<TargetCandidates> {
  const { uuids, numbers } = references('target', ids)
  const { rows } = await database.query<TargetRecord>(
    `WITH chosen AS (
            SELECT id, json_agg(tag) FILTER (WHERE tag IS NOT NULL) AS tags
              FROM (SELECT id, NULL::json AS tag FROM unnest($2::uuid[]) AS given (id)
                    UNION ALL SELECT t.id, NULL FROM unnest($3::int[]) AS given (number) JOIN targets t USING (number)
                    UNION ALL SELECT target_id, json_build_object('key', key, 'value', value) FROM target_tags
                                JOIN unnest($4::text[], $5::text[]) AS wanted (key, value) USING (key, value)) found
             GROUP BY id
          ),
          instance AS (SELECT max(last_heartbeat_at) AS last_seen_at FROM instances),
          local AS (SELECT ${targetStatus(`interval '${LOST_AFTER}'`)} AS status FROM instance)
     SELECT t.id, t.number, t.name, t.tenant_id, t.environment_id, t.enabled, t.variables_sealed,
            CASE WHEN t.connection ->> 'type' IN ('local', 'simulated') THEN local.status
                 ELSE ${targetStatus()} END AS status,
            chosen.tags
       FROM chosen
       JOIN targets t ON t.id = chosen.id
       LEFT JOIN target_facts f ON f.target_id = t.id
      CROSS JOIN local
      WHERE ${visible('t.tenant_id', '$1')}`,
    [caller.tenant_id, uuids, numbers, tags.map(({ key }) => key), tags.map(({ value }) => value)],
  )
  return { records: rows, uuids: uuidsOf('target', ids, rows) }
}
