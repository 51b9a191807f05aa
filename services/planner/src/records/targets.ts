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
 * simulated target is seen whenever an instance is; the others when something reached them. Each id is looked up by itself: in a list, ten
 * thousand may be compared with every target.
 */
export async function loadTargets(
  database: Queryable,
  caller: Caller,
  { target_ids: ids, target_tags: tags }: RequestedTargets,
): Promise<TargetCandidates> {
  const { uuids, numbers } = references('target', ids)
  const { rows } = await database.query<TargetRecord>(
    `WITH wanted_tags AS (SELECT * FROM unnest($4::text[], $5::text[]) AS w (key, value)),
          tagged AS (
            SELECT target_id, json_agg(json_build_object('key', key, 'value', value)) AS tags
              FROM target_tags JOIN wanted_tags USING (key, value)
             GROUP BY target_id
          ),
          chosen AS (
            SELECT id FROM unnest($2::uuid[]) AS given (id)
             UNION SELECT t.id FROM unnest($3::int[]) AS given (number) JOIN targets t USING (number)
             UNION SELECT target_id FROM tagged
          ),
          instance AS (SELECT max(last_heartbeat_at) AS last_seen_at FROM instances),
          local AS (SELECT ${targetStatus(`interval '${LOST_AFTER}'`)} AS status FROM instance)
     SELECT t.id, t.number, t.name, t.tenant_id, t.environment_id, t.enabled, t.variables_sealed,
            CASE WHEN t.connection ->> 'type' IN ('local', 'simulated') THEN local.status
                 ELSE ${targetStatus()} END AS status,
            tagged.tags
       FROM chosen
       JOIN targets t ON t.id = chosen.id
       LEFT JOIN tagged ON tagged.target_id = t.id
       LEFT JOIN target_facts f ON f.target_id = t.id
      CROSS JOIN local
      WHERE ${visible('t.tenant_id', '$1')}`,
    [caller.tenant_id, uuids, numbers, tags.map(({ key }) => key), tags.map(({ value }) => value)],
  )
  return { records: rows, uuids: uuidsOf('target', ids, rows) }
}
