import { groupKey, placesOf, type Queryable, rankOf } from '@slipway/database'
import { uuidv7 } from '@slipway/runtime'

/** What a test says of a pending request. The rest has usual values, or follows from the command. */
interface PendingRequestParts {
  id?: string
  status?: string
  priority?: number
  tenant_id?: string | null
  tenant_name?: string
  command?: object
  source?: { type: string; id: string; name: string; version: string }
  target_count?: number
  first_targets?: { id: string; name: string }[]
}

/** Adds a pending request with all columns that the dispatcher fills, and returns its id. Without a caller it is of the first user. */
export async function addPending(db: Queryable, request: PendingRequestParts = {}): Promise<string> {
  const { id = uuidv7() } = request
  await addPendingRequests(db, [{ ...request, id }])
  return id
}

export async function addPendingRequests(db: Queryable, requests: readonly PendingRequestParts[]): Promise<void> {
  const rows = requests.map(
    ({ source = { type: 'action', id: uuidv7(), name: 'deploy', version: '1.0.0' }, ...request }) => ({
      id: uuidv7(),
      status: 'pending',
      priority: 0,
      command: {},
      source_type: source.type,
      source_id: source.id,
      source_name: source.name,
      source_version: source.version,
      target_count: 0,
      first_targets: [],
      ...request,
    }),
  )
  await db.query(
    `INSERT INTO pending_requests (id, status, priority, rank, tenant_id, tenant_name, triggered_by, command, queued_at, source_type,
       source_id, source_name, source_version, target_count, first_targets, freeze_subject, freeze_key, instance_selector, pool_key,
       start_at, expires_at, overrides_rules, author_id, plan_hash)
     SELECT id, status, priority, ${rankOf('priority', 'since')}, tenant_id, tenant_name, 'admin', command, since, source_type,
       source_id, source_name, source_version, target_count, first_targets, subject, ${groupKey('subject', 'selector')}, selector,
       md5(selector::text)::uuid, (command ->> 'start_at')::timestamptz, (command ->> 'expires_at')::timestamptz,
       command ->> 'rules_override' IS NOT NULL, coalesce((command #>> '{caller,user_id}')::uuid, (SELECT u.id FROM users u ORDER BY u.created_at LIMIT 1)), command ->> 'plan_hash'
       FROM jsonb_to_recordset($1) AS r (id uuid, status pending_status, priority int, tenant_id uuid, tenant_name text, command jsonb,
              source_type source_kind, source_id uuid, source_name text, source_version text, target_count int, first_targets jsonb),
            LATERAL (SELECT clock_timestamp()::timestamptz(3) AS since, command #> '{plan,instance_selector}' AS selector,
              jsonb_build_object(
                'tenant_id', tenant_id,
                'environment_id', NULL,
                'solution_id', CASE WHEN command #>> '{plan,source,type}' = 'solution' THEN command #> '{plan,source,id}' END,
                'caller', jsonb_build_object('may_override_freezes', coalesce(command #> '{caller,may_override_freezes}', 'false'),
                                             'tenant_id', command #> '{caller,tenant_id}'),
                'override', coalesce(command -> 'freeze_override', 'null') <> 'null',
                'targets', ${placesOf('command')}) AS subject) f`,
    [JSON.stringify(rows)],
  )
}
