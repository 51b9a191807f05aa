import type { Queryable } from '@slipway/database'

interface Row {
  id: string
  gone: string[]
}

/**
 * Why requests can no longer be dispatched, by id: time has passed since they were planned, and what they were planned
 * with may be gone or disabled.
 */
export async function vanishedRecords(tx: Queryable, ids: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await tx.query<Row>(
    // Of all requests at once: asked for each, Postgres may read all targets for each.
    `WITH p AS MATERIALIZED (SELECT id, command -> 'plan' AS plan FROM pending_requests WHERE id = ANY($1::uuid[]))
     SELECT id, array_agg(DISTINCT what) AS gone FROM (
       SELECT id, (plan #>> '{source,type}') || ' "' || (plan #>> '{source,name}') || '" ' || (plan #>> '{source,version}') AS what
         FROM p
        WHERE NOT EXISTS (SELECT FROM source_versions v
                           WHERE v.source_id = (plan #>> '{source,id}')::uuid AND v.version = plan #>> '{source,version}')
       UNION ALL
       SELECT p.id, 'action "' || (a ->> 'action_name') || '" ' || (a ->> 'action_version')
         FROM p, jsonb_array_elements(plan -> 'actions') AS a
        WHERE NOT EXISTS (SELECT FROM source_versions v
                           WHERE v.source_id = (a ->> 'action_id')::uuid AND v.version = a ->> 'action_version')
       UNION ALL
       SELECT p.id, 'target "' || (t ->> 'name') || '"'
         FROM p, jsonb_array_elements(plan -> 'targets') AS t
        WHERE NOT EXISTS (SELECT FROM targets WHERE targets.id = (t ->> 'id')::uuid AND targets.enabled)
       UNION ALL
       SELECT id, 'tenant "' || (plan #>> '{tenant,name}') || '"'
         FROM p
        WHERE plan -> 'tenant' <> 'null'
          AND NOT EXISTS (SELECT FROM tenants WHERE tenants.id = (plan #>> '{tenant,id}')::uuid)
       UNION ALL
       SELECT id, 'environment "' || (plan #>> '{environment,name}') || '"'
         FROM p
        WHERE plan -> 'environment' <> 'null'
          AND NOT EXISTS (SELECT FROM environments e WHERE e.id = (plan #>> '{environment,id}')::uuid)
     ) missing GROUP BY id`,
    [ids],
  )
  return new Map(rows.map(({ id, gone }) => [id, sentence(gone)]))
}

const NAMED = 5

function sentence(gone: string[]): string {
  const named = gone.slice(0, NAMED).join(', ')
  const more = gone.length > NAMED ? ` and ${gone.length - NAMED} more` : ''
  return `Since the request was queued these were deleted or disabled: ${named}${more}`
}
