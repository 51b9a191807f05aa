import { MAX_MESSAGE_BYTES } from '@slipway/broker'
import {
  array,
  bool,
  int4,
  int8,
  json,
  jsonb,
  LOST_AFTER,
  nullable,
  oneOf,
  type Queryable,
  type RowOf,
  rowSet,
  statement,
  text,
  uuid,
} from '@slipway/database'
import { targetStatus, type Viewer, visibleSql } from '@slipway/database/read-models'
import { decodeSqid, type InstanceSelector, isUuid, Problem, TARGET_STATUSES, type TargetTag } from '@slipway/domain'
import { references } from './ids.ts'

const selector = jsonb<InstanceSelector>()

/** For this time after its creation, an SSH target without a probe counts as new. Offline targets are probed about once a minute. */
const NEW_FOR = '10 minutes'

/** Targets by id or number, with their status. Local and simulated targets are online while an instance is. */
const findTargets = statement({
  name: 'planner.targets.find',
  parameters: { tenant_id: nullable(uuid), ids: array(uuid), numbers: array(int4) },
  row: {
    id: uuid,
    number: int4,
    name: text,
    tenant_id: nullable(uuid),
    environment_id: nullable(uuid),
    enabled: bool,
    variables_sealed: nullable(text),
    sensitive_variables: array(text),
    instance_selector: selector,
    environment_selector: nullable(selector),
    tenant_selector: nullable(selector),
    status: oneOf('text', TARGET_STATUSES),
    awaits_probe: bool,
  },
  sql: `WITH instance AS (SELECT max(last_heartbeat_at) AS last_seen_at FROM instances),
         local AS (SELECT ${targetStatus(`interval '${LOST_AFTER}'`)} AS status FROM instance)
    SELECT t.id, t.number, t.name, t.tenant_id, t.environment_id, t.enabled, t.variables_sealed, t.sensitive_variables,
           t.instance_selector, e.instance_selector AS environment_selector, n.instance_selector AS tenant_selector,
           CASE WHEN t.connection ->> 'type' IN ('local', 'simulated') THEN (SELECT status FROM local)
                ELSE coalesce((SELECT ${targetStatus()} FROM target_facts f WHERE f.target_id = t.id), 'offline')
           END AS status,
           t.connection ->> 'type' = 'ssh' AND t.created_at > now() - interval '${NEW_FOR}' AND NOT EXISTS (
             SELECT FROM target_facts f WHERE f.target_id = t.id AND (f.last_seen_at IS NOT NULL OR f.failing_since IS NOT NULL)
           ) AS awaits_probe
      FROM targets t
      LEFT JOIN environments e ON e.id = t.environment_id
      LEFT JOIN tenants n ON n.id = t.tenant_id
     WHERE (t.id = ANY (:ids) OR t.number = ANY (:numbers))
       AND ${visibleSql('t')}`,
})

/** The number of targets with these ids or numbers, and the length of their sealed variables. */
const measureTargets = statement({
  name: 'planner.targets.measure',
  parameters: { tenant_id: nullable(uuid), ids: array(uuid), numbers: array(int4) },
  row: { count: int4, sealed_bytes: int8 },
  sql: `SELECT count(*)::int AS count, coalesce(sum(octet_length(t.variables_sealed)), 0)::bigint AS sealed_bytes
      FROM targets t
     WHERE (t.id = ANY (:ids) OR t.number = ANY (:numbers))
       AND ${visibleSql('t')}`,
})

/** The targets with at least one of these tags, each with its matching tags. */
const findTags = statement({
  name: 'planner.target-tags.find',
  parameters: { tags: rowSet({ key: text, value: text }), most: int4 },
  row: { target_id: uuid, tags: json<TargetTag[]>() },
  sql: `SELECT target_id, json_agg(json_build_object('key', key, 'value', value)) AS tags
      FROM target_tags JOIN :tags AS w USING (key, value)
     GROUP BY target_id LIMIT :most::int`,
})

export interface TargetRecord extends RowOf<typeof findTargets> {
  /** The tags that match the selection; null if none does. */
  tags: TargetTag[] | null
}

/** The selection of a request, with ids as the request writes them. */
interface RequestedTargets {
  target_ids: readonly string[]
  target_tags: readonly TargetTag[]
}

export interface TargetCandidates {
  /** By UUID. */
  records: Map<string, TargetRecord>
  /** The UUID of each given id, in order; undefined for an id that names no candidate. */
  uuids: (string | undefined)[]
}

/** More targets than a message of 15 MiB can have: a plan has at least 100 bytes for each. */
const MAX_TARGETS = 160_000
/** Sealed values are a third longer than in the plan. */
const MAX_SEALED_BYTES = 2 * MAX_MESSAGE_BYTES
/** So many targets are measured before they are read: too many would end the planner for lack of memory. */
const MEASURED_TARGETS = 500

export const planTooLarge = () =>
  new Problem(
    'PAYLOAD_TOO_LARGE',
    'The plan is too large: deploy to fewer targets at a time, or give them less to know',
  )

/** Every target that the caller may use and that the request names or that has one of its tags. */
export async function loadTargets(
  database: Queryable,
  caller: Viewer,
  { target_ids, target_tags }: RequestedTargets,
): Promise<TargetCandidates> {
  const { uuids, numbers } = references('target', target_ids)
  const tagged = await loadTags(database, target_tags)
  const ids = [...uuids, ...tagged.keys()]
  const candidates = { tenant_id: caller.tenant_id, ids, numbers }
  if (ids.length + numbers.length > MEASURED_TARGETS) {
    const { count, sealed_bytes } = await measureTargets.one(database, candidates)
    if (count > MAX_TARGETS || sealed_bytes > MAX_SEALED_BYTES) throw planTooLarge()
  }
  const targets = await findTargets.all(database, candidates)
  const records = new Map(targets.map((target) => [target.id, { ...target, tags: tagged.get(target.id) ?? null }]))
  const byNumber = new Map(targets.map(({ number, id }) => [number, id]))
  const uuidOf = (id: string) => {
    const uuid = isUuid(id) ? id.toLowerCase() : byNumber.get(decodeSqid('target', id) ?? -1)
    return uuid !== undefined && records.has(uuid) ? uuid : undefined
  }
  return { records, uuids: target_ids.map(uuidOf) }
}

async function loadTags(database: Queryable, tags: readonly TargetTag[]): Promise<Map<string, TargetTag[]>> {
  if (tags.length === 0) return new Map()
  const found = await findTags.all(database, { tags, most: MAX_TARGETS + 1 })
  return new Map(found.map((target) => [target.target_id, target.tags]))
}
