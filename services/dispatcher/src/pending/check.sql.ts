import { array, nullable, oneOf, statement, text, uuid } from '@slipway/database'

/** The records that still exist. Targets must also be enabled. */
export const findPresent = statement({
  name: 'dispatcher.records.present',
  parameters: {
    source_ids: array(uuid),
    versions: array(text),
    target_ids: array(uuid),
    tenant_ids: array(uuid),
    environment_ids: array(uuid),
  },
  row: { kind: oneOf('text', ['source', 'target', 'tenant', 'environment']), id: uuid, version: nullable(text) },
  sql: `SELECT 'source' AS kind, v.source_id AS id, v.version
      FROM source_versions v
      JOIN unnest(:source_ids::uuid[], :versions::text[]) AS wanted (id, version)
        ON wanted.id = v.source_id AND wanted.version = v.version
    UNION ALL SELECT 'target', id, NULL FROM targets WHERE id = ANY (:target_ids::uuid[]) AND enabled
    UNION ALL SELECT 'tenant', id, NULL FROM tenants WHERE id = ANY (:tenant_ids::uuid[])
    UNION ALL SELECT 'environment', id, NULL FROM environments WHERE id = ANY (:environment_ids::uuid[])`,
})
