import { nullable, statement, text, uuid } from '@slipway/database'

/** A text that changes whenever a version is published. */
export const readPublished = statement({
  name: 'planner.source_versions.state',
  row: { state: text },
  sql: `SELECT count(*) || ' ' || coalesce(max(created_at), 'epoch') AS state FROM source_versions`,
})

export const findSensitiveNames = statement({
  name: 'planner.sensitive_names.find',
  row: { tenant_id: nullable(uuid), name: text },
  sql: 'SELECT DISTINCT s.tenant_id, n.name FROM sensitive_names n JOIN sources s ON s.id = n.source_id',
})
