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
    `SELECT p.id, gone.what AS gone
       FROM pending_requests p
      CROSS JOIN LATERAL (SELECT p.command -> 'plan' AS plan OFFSET 0) c
      CROSS JOIN LATERAL (
        SELECT array_agg(DISTINCT what) AS what FROM (
          SELECT (plan #>> '{source,type}') || ' "' || (plan #>> '{source,name}') || '" ' || (plan #>> '{source,version}') AS what
           WHERE NOT EXISTS (SELECT FROM source_versions v
                              WHERE v.source_id = (plan #>> '{source,id}')::uuid AND v.version = plan #>> '{source,version}')
          UNION ALL
          SELECT 'action "' || (a ->> 'action_name') || '" ' || (a ->> 'action_version')
            FROM jsonb_array_elements(plan -> 'actions') AS a
           WHERE NOT EXISTS (SELECT FROM source_versions v
                              WHERE v.source_id = (a ->> 'action_id')::uuid AND v.version = a ->> 'action_version')
          UNION ALL
          SELECT 'target "' || (t ->> 'name') || '"'
            FROM jsonb_array_elements(plan -> 'targets') AS t
           WHERE NOT EXISTS (SELECT FROM targets WHERE targets.id = (t ->> 'id')::uuid AND targets.enabled)
          UNION ALL
          SELECT 'tenant "' || (plan #>> '{tenant,name}') || '"'
           WHERE plan -> 'tenant' <> 'null'
             AND NOT EXISTS (SELECT FROM tenants WHERE tenants.id = (plan #>> '{tenant,id}')::uuid)
          UNION ALL
          SELECT 'environment "' || (plan #>> '{environment,name}') || '"'
           WHERE plan -> 'environment' <> 'null'
             AND NOT EXISTS (SELECT FROM environments e WHERE e.id = (plan #>> '{environment,id}')::uuid)
        ) missing
      ) gone
      WHERE p.id = ANY($1::uuid[]) AND gone.what IS NOT NULL`,
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
