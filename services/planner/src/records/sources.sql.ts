import { array, int4, jsonb, nullable, sourceKind, statement, text, uuid } from '@slipway/database'
import { visibleSql } from '@slipway/database/read-models'
import type { PublishedAction, SequenceDefinition, SolutionDefinition } from '@slipway/domain'

export type Definition = PublishedAction | SequenceDefinition | SolutionDefinition

/** Sources by id or number that the caller may see, with all their versions. */
export const findSources = statement({
  name: 'planner.sources.find',
  parameters: { tenant_id: nullable(uuid), kind: sourceKind, ids: array(uuid), numbers: array(int4) },
  row: { id: uuid, name: text, tenant_id: nullable(uuid), versions: array(text) },
  sql: `SELECT s.id, s.name, s.tenant_id,
           ARRAY(SELECT v.version FROM source_versions v WHERE v.source_id = s.id) AS versions
      FROM sources s
     WHERE s.kind = :kind::source_kind AND (s.id = ANY (:ids::uuid[]) OR s.number = ANY (:numbers::int[]))
       AND ${visibleSql('s')}`,
})

export const findDefinitions = statement({
  name: 'planner.source_versions.find',
  parameters: { ids: array(uuid), versions: array(text) },
  row: { id: uuid, version: text, definition: jsonb<Definition>(), secrets: nullable(text), size: int4 },
  sql: `SELECT v.source_id AS id, v.version, v.definition || jsonb_build_object('places', v.templates) AS definition, v.secrets, pg_column_size(v.definition) AS size
      FROM unnest(:ids::uuid[], :versions::text[]) AS wanted (id, version)
      JOIN source_versions v ON v.source_id = wanted.id AND v.version = wanted.version`,
})
