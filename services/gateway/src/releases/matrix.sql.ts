import { int8, statement, text } from '@slipway/database'
import { isoTime, jsonObject } from '@slipway/database/read-models'
import { afterKeySql, pageColumns } from '../pages.sql.ts'
import { FROM_INSTALLED, scope, VARIANTS, withNames } from './installed.sql.ts'

const NEWEST_FIRST = 'v.applied_at DESC, v.deployment_id DESC'

const VERSION = jsonObject({
  version: 'v.version',
  variants: 'v.variants',
  target_count: 'v.target_count',
  applied_at: isoTime('v.applied_at'),
  applied_by: 'v.applied_by',
  deployment_id: 'v.deployment_id',
})

const CELL = jsonObject({
  environment_id: 'v.environment_id',
  environment_name: 'e.name',
  environment_position: 'e.position',
  tenant_id: 'v.tenant_id',
  tenant_name: 'n.name',
  versions: `coalesce(json_agg(${VERSION} ORDER BY version_precedence(v.version) COLLATE "C" DESC)
               FILTER (WHERE v.version IS NOT NULL), '[]')`,
  target_count: 'sum(v.target_count)',
  running: 'sum(v.running)',
  failed: 'sum(v.failed)',
  drifted: 'sum(v.drifted)',
})

const ROW = jsonObject({
  source_type: 'p.source_type',
  source_id: 'p.source_id',
  source_name: 'p.source_name',
  cells: `(SELECT json_agg(c.cell ORDER BY c.environment_id IS NOT NULL, c.environment_position, c.environment_name, c.environment_id,
             c.tenant_id IS NOT NULL, c.tenant_name, c.tenant_id) FROM cells c WHERE c.source_id = p.source_id)`,
})

const FOUND =
  'SELECT i.source_id, i.source_type, i.source_name, i.tenant_id, i.environment_id, i.version, i.variant, i.state, i.shown_state, i.deployment_id, ' +
  `i.applied_at, i.applied_by ${FROM_INSTALLED} AND (:pattern::text IS NULL OR i.source_name ILIKE :pattern)`

const AFTER = afterKeySql('ascending', ['min(i.source_name)', 'text'], ['i.source_id', 'uuid'])

/** A page of sources by name, each with what is in force in each environment and tenant, and the total. */
export const findMatrix = statement({
  name: 'gateway.releases.find-matrix',
  // As for the page of releases.
  planEachCall: true,
  parameters: { ...scope, ...pageColumns },
  row: { total: int8, data: text },
  sql: `WITH found AS (${FOUND}),
    page AS (
      SELECT i.source_id, min(i.source_type) AS source_type, min(i.source_name) AS source_name
        FROM found i GROUP BY i.source_id HAVING ${AFTER} ORDER BY min(i.source_name), i.source_id LIMIT :take OFFSET :skip),
    by_version AS (
      SELECT v.source_id, v.environment_id, v.tenant_id, v.version, count(*) AS target_count, ${VARIANTS} AS variants,
             count(*) FILTER (WHERE v.state IN ('running', 'rolling_back')) AS running,
             count(*) FILTER (WHERE v.state NOT IN ('applied', 'running', 'rolling_back', 'cancelled')) AS failed,
             count(*) FILTER (WHERE v.shown_state = 'drifted') AS drifted, max(v.applied_at) AS applied_at,
             (array_agg(v.applied_by ORDER BY ${NEWEST_FIRST}))[1] AS applied_by,
             (array_agg(v.deployment_id ORDER BY ${NEWEST_FIRST}))[1] AS deployment_id
        FROM found v WHERE v.source_id IN (SELECT source_id FROM page)
       GROUP BY v.source_id, v.environment_id, v.tenant_id, v.version),
    cells AS (
      SELECT v.source_id, v.environment_id, e.name AS environment_name, e.position AS environment_position, v.tenant_id, n.name AS tenant_name, ${CELL} AS cell
        FROM by_version v ${withNames('v')}
       GROUP BY v.source_id, v.environment_id, e.name, e.position, v.tenant_id, n.name)
    SELECT (SELECT count(DISTINCT source_id) FROM found) AS total,
      (SELECT coalesce(json_agg(${ROW} ORDER BY p.source_name, p.source_id), '[]')::text FROM page p) AS data`,
})
