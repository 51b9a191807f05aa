import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Queryable } from '@slipway/database'
import { decodeSqid, isUuid, type TargetStatus, type TargetTag } from '@slipway/domain'
import { LOST_AFTER, targetStatus } from '@slipway/views'
import { references } from './ids.ts'
import { type Caller, visible } from './visibility.ts'

export interface TargetRecord {
  id: string
  name: string
  tenant_id: string | null
  environment_id: string | null
  enabled: boolean
  variables_sealed: string | null
  sensitive_variables: string[]
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
  /** By UUID. */
  records: Map<string, TargetRecord>
  /** The UUID of each given id, in their order; undefined for one that names no candidate. */
  uuids: (string | undefined)[]
}

/** Ids that one statement looks up; more are looked up on several connections at once. */
export const IDS_AT_ONCE = 5_000

/** What was found, column by column, each with a value for each target: as rows, thousands take longer to read. */
type Columns = { [K in Exclude<keyof TargetRecord, 'tags' | 'sensitive_variables'>]: TargetRecord[K][] } & {
  /** By id, of those targets that have any. */
  sensitive_variables: Record<string, string[]> | null
  /** Ids by the numbers that the request gave. */
  numbered: Record<number, string> | null
  /** By id. */
  tags: Record<string, TargetTag[]> | null
}

/**
 * Every target that the caller may use and that is named, or carries any of the tags, with its status. A local or
 * simulated target is seen whenever an instance is; the others when something reached them. Ids are gathered first and
 * looked up by the index, and nothing is joined: Postgres, which knows nothing of targets that have just come, compares
 * each of thousands with all the others.
 */
export async function loadTargets(
  database: Queryable,
  caller: Caller,
  { target_ids: ids, target_tags: tags }: RequestedTargets,
): Promise<TargetCandidates> {
  const portions = Array.from({ length: Math.max(1, Math.ceil(ids.length / IDS_AT_ONCE)) }, (_, portion) => ({
    target_ids: ids.slice(portion * IDS_AT_ONCE, (portion + 1) * IDS_AT_ONCE),
    target_tags: portion === 0 ? tags : [],
  }))
  const records = new Map<string, TargetRecord>()
  const numbered = new Map<string, string>()
  await Promise.all(
    portions.map(async (portion, index) => {
      // Postgres begins with the first while the next is put into its form, and ends with it first.
      if (index > 0) await nextTurn()
      const columns = await readTargets(database, caller, portion)
      addRecords(records, columns)
      for (const [number, id] of Object.entries(columns.numbered ?? {})) numbered.set(number, id)
    }),
  )
  const uuidOf = (id: string) => {
    if (records.has(id)) return id
    const uuid = isUuid(id) ? id.toLowerCase() : numbered.get(String(decodeSqid('target', id)))
    return uuid !== undefined && records.has(uuid) ? uuid : undefined
  }
  return { records, uuids: ids.map(uuidOf) }
}

async function readTargets(
  database: Queryable,
  caller: Caller,
  { target_ids: ids, target_tags: tags }: RequestedTargets,
): Promise<Columns> {
  const { uuids, numbers } = references('target', ids)
  const { rows } = await database.query<Columns>(
    `WITH numbered AS MATERIALIZED (SELECT id, number FROM targets WHERE number = ANY($3::int[])),
          tagged AS MATERIALIZED (
            SELECT target_id, json_agg(json_build_object('key', key, 'value', value)) AS tags
              FROM target_tags JOIN unnest($4::text[], $5::text[]) AS wanted (key, value) USING (key, value)
             GROUP BY target_id
          ),
          instance AS (SELECT max(last_heartbeat_at) AS last_seen_at FROM instances),
          local AS (SELECT ${targetStatus(`interval '${LOST_AFTER}'`)} AS status FROM instance),
          found AS (
            SELECT t.id, t.name, t.tenant_id, t.environment_id, t.enabled, t.variables_sealed, t.sensitive_variables,
                   CASE WHEN t.connection ->> 'type' IN ('local', 'simulated') THEN (SELECT status FROM local)
                        ELSE coalesce((SELECT ${targetStatus()} FROM target_facts f WHERE f.target_id = t.id), 'offline')
                   END AS status
              FROM targets t
             WHERE t.id = ANY(ARRAY(SELECT unnest($2::uuid[]) UNION ALL SELECT id FROM numbered
                                    UNION ALL SELECT target_id FROM tagged))
               AND ${visible('t.tenant_id', '$1')}
          )
     SELECT coalesce(json_agg(id), '[]') AS id, json_agg(name) AS name, json_agg(tenant_id) AS tenant_id,
            json_agg(environment_id) AS environment_id, json_agg(enabled) AS enabled,
            json_agg(variables_sealed) AS variables_sealed, json_agg(status) AS status,
            json_object_agg(id, sensitive_variables)
              FILTER (WHERE sensitive_variables <> '{}' AND variables_sealed IS NOT NULL) AS sensitive_variables,
            (SELECT json_object_agg(number, id) FROM numbered) AS numbered,
            (SELECT json_object_agg(target_id, tags) FROM tagged) AS tags
       FROM found`,
    [caller.tenant_id, uuids, numbers, tags.map(({ key }) => key), tags.map(({ value }) => value)],
  )
  return rows[0] as Columns
}

/** Shared by the thousands of targets that mark no variable. */
const NO_NAMES: string[] = []

/** What one statement found; one that was found by its id and, by another statement, by a tag keeps the tag. */
function addRecords(records: Map<string, TargetRecord>, columns: Columns): void {
  const {
    id: ids,
    name,
    tenant_id,
    environment_id,
    enabled,
    variables_sealed,
    sensitive_variables,
    status,
    tags,
  } = columns
  const at = <T>(column: T[], index: number) => column[index] as T
  ids.forEach((id, index) => {
    const found = tags?.[id] ?? null
    if (found === null && records.has(id)) return
    records.set(id, {
      id,
      name: at(name, index),
      tenant_id: at(tenant_id, index),
      environment_id: at(environment_id, index),
      enabled: at(enabled, index),
      variables_sealed: at(variables_sealed, index),
      sensitive_variables: sensitive_variables?.[id] ?? NO_NAMES,
      status: at(status, index),
      tags: found,
    })
  })
}
