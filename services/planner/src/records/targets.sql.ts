import { array, bool, int4, json, jsonb, LOST_AFTER, nullable, oneOf, statement, text, uuid } from '@slipway/database'
import { targetStatus, visibleSql } from '@slipway/database/read-models'
import { type InstanceSelector, TARGET_STATUSES, type TargetTag } from '@slipway/domain'

const selector = jsonb<InstanceSelector>()

/** For this time after its creation, an SSH target without a probe counts as new. Offline targets are probed about once a minute. */
const NEW_FOR = '10 minutes'

/** Targets by id or number, with their status. Local and simulated targets are online while an instance is. */
export const findTargets = statement({
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

/** The targets with at least one of these tags, each with its matching tags. */
export const findTags = statement({
  name: 'planner.target_tags.find',
  parameters: { keys: array(text), values: array(text) },
  row: { target_id: uuid, tags: json<TargetTag[]>() },
  sql: `SELECT target_id, json_agg(json_build_object('key', key, 'value', value)) AS tags
      FROM target_tags JOIN unnest(:keys::text[], :values::text[]) AS wanted (key, value) USING (key, value)
     GROUP BY target_id`,
})
