import { array, int4, nullable, statement, text, uuid } from '@slipway/database'

/** For each list of targets, the tenants and environments of the targets now. */
export const findPlaces = statement({
  name: 'dispatcher.freezes.find-places',
  parameters: { lists: array(int4), target_ids: array(uuid) },
  row: { list: int4, tenant_id: nullable(uuid), environment_id: nullable(uuid), target_ids: array(text) },
  sql: `SELECT l.list, t.tenant_id, t.environment_id, array_agg(t.id::text) AS target_ids
      FROM unnest(:lists::int[], :target_ids::uuid[]) AS l (list, target_id) JOIN targets t ON t.id = l.target_id
     GROUP BY l.list, t.tenant_id, t.environment_id`,
})
