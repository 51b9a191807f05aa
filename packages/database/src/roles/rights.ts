import { SEALED_PLACES } from '../sealing/sealed-places.ts'

/**
 * The rights of each service and maintenance command in Postgres. This file is the only source: `make migrate` turns it into
 * GRANTs. A test fails for a table or function without an entry.
 *
 * During a rolling update the release before runs with these rights too, so they are expand-then-contract like migrations.
 */

/** The login roles. `retention` and the two roles before it are maintenance commands. */
export const DATABASE_ROLES = [
  'gateway',
  'planner',
  'dispatcher',
  'executor-bridge',
  'log-stream',
  'audit-verify',
  'rotate-keys',
  'retention',
] as const
export type DatabaseRole = (typeof DATABASE_ROLES)[number]

export type Columns = 'all' | readonly string[] | { except: readonly string[] }

interface TableRights {
  select?: Columns
  /** Rows may be inserted with these columns; the others get their defaults. */
  insert?: true | readonly string[]
  /** `all` leaves out the primary key, because other rows and messages name it. */
  update?: Columns
  delete?: true
  /** Row locks without updates: the right to update the column `lockable`, which nothing can change. */
  lock?: true
}

type Table = { [role in DatabaseRole]?: TableRights }

const read: TableRights = { select: 'all' }
const except = (...columns: string[]): TableRights => ({ select: { except: columns } })
const only = (...columns: string[]): TableRights => ({ select: columns })
/** Inserts without updates. Only foreign keys of the owner may delete rows. */
const append: TableRights = { select: 'all', insert: true }
const own: TableRights = { select: 'all', insert: true, update: 'all', delete: true }
const drop: TableRights = { select: 'all', delete: true }

/** Every service that writes to the outbox also relays all messages. */
const relay: TableRights = { select: 'all', insert: true, delete: true, lock: true }
const applied = only('migration_name', 'finished_at', 'rolled_back_at')
/** The relay reads which webhooks subscribe to an event. */
const listeners = only('id', 'tenant_id', 'events', 'enabled')

const INSTANCE_SECRETS = except('credential_hash', 'next_credential_hash', 'former_credential_hash', 'join_key_hash')
const TARGET_SECRETS = except('connection_secrets')

const KEY_SCOPE = only('id', 'user_id', 'scopes', 'environment_ids', 'solution_ids', 'expires_at')

const MOVED_HEAD: TableRights = {
  insert: ['target_id', 'source_id'],
  update: ['current_deployment_id', 'latest_deployment_id', 'current_since'],
}
const NEW_CHECK = ['target_id', 'source_id', 'deployment_id', 'interval_seconds']
const RENEWED_CHECK = [
  ...['deployment_id', 'interval_seconds', 'next_at', 'requested', 'run_id', 'result', 'checked_at', 'message'],
  'drifted_since',
  'in_sync_since',
]

const SERVICES_TABLES: Record<string, Table> = {
  // Identity. The log-stream checks whether the user of a stream may still see its records. The planner and the dispatcher check what
  // the user of a request may do.
  users: {
    gateway: own,
    'log-stream': only('id', 'status', 'tenant_id', 'token_version'),
    planner: only('id', 'status', 'tenant_id'),
    dispatcher: only('id', 'status', 'tenant_id'),
  },
  roles: { gateway: own, 'log-stream': read, planner: read, dispatcher: read },
  user_roles: { gateway: own, 'log-stream': read, planner: read, dispatcher: read },
  role_bindings: { gateway: own, 'log-stream': read, planner: read, dispatcher: read },
  identities: { gateway: own },
  trusts: { gateway: own },
  exchanged_tokens: { gateway: own },
  sessions: { gateway: own, 'log-stream': only('id', 'user_id', 'token_version', 'expires_at', 'revoked_at') },
  refresh_tokens: { gateway: own },
  recovery_codes: { gateway: own },
  wrong_codes: { gateway: own },
  api_keys: { gateway: own, 'log-stream': KEY_SCOPE, planner: KEY_SCOPE, dispatcher: KEY_SCOPE },
  idempotency_keys: { gateway: own },

  // Audit. No role changes or deletes records; retention calls the function drop_audit.
  audit_records: {
    gateway: append,
    dispatcher: append,
    'executor-bridge': append,
    retention: append,
    'audit-verify': read,
  },
  audit_links: { gateway: append, dispatcher: read, retention: read, 'audit-verify': read },

  // Catalog.
  tenants: { gateway: own, planner: read, dispatcher: only('id'), 'executor-bridge': only('id', 'instance_selector') },
  environments: {
    gateway: own,
    planner: read,
    dispatcher: only('id', 'name', 'tenant_id', 'concurrency', 'rules'),
    'log-stream': only('id', 'name', 'tenant_id', 'concurrency', 'rules'),
    'executor-bridge': only('id', 'name', 'instance_selector'),
  },
  targets: {
    gateway: own,
    planner: TARGET_SECRETS,
    dispatcher: TARGET_SECRETS,
    'log-stream': TARGET_SECRETS,
    'executor-bridge': { select: 'all', lock: true },
    retention: only('id'),
  },
  target_tags: { gateway: own, planner: read, dispatcher: read, 'log-stream': read },
  sources: { gateway: own, planner: read, dispatcher: read, 'log-stream': read },
  source_versions: {
    gateway: append,
    planner: read,
    dispatcher: except('secrets'),
    'log-stream': except('secrets'),
    'executor-bridge': read,
  },
  sensitive_names: { gateway: append, planner: read, 'log-stream': read },
  source_contents: { gateway: append, 'executor-bridge': read },
  freezes: { gateway: own, planner: read, dispatcher: read, 'log-stream': read },
  contents: { gateway: own, 'executor-bridge': read },
  content_uploads: { gateway: own },
  content_chunks: { gateway: append, 'executor-bridge': read },
  content_uploaders: { gateway: { select: 'all', insert: true, delete: true } },
  content_tenants: { gateway: own },
  instance_grants: {
    gateway: { select: 'all', insert: true, delete: true },
    'executor-bridge': { select: 'all', update: ['used'] },
  },
  agent_grants: { gateway: { select: 'all', insert: true, delete: true }, 'executor-bridge': read },
  // The dispatcher disables a webhook after its receiver has answered 410, and counts its timeouts.
  webhooks: {
    gateway: own,
    dispatcher: { select: 'all', update: ['enabled', 'disabled_reason', 'consecutive_timeouts', 'updated_at'] },
    'executor-bridge': listeners,
  },

  // Deployments.
  deployments: {
    dispatcher: own,
    gateway: read,
    planner: read,
    'log-stream': read,
    'executor-bridge': { select: 'all', lock: true },
    retention: { select: 'all', delete: true, lock: true },
  },
  deployment_actions: {
    dispatcher: append,
    gateway: read,
    planner: read,
    'log-stream': read,
    'executor-bridge': read,
  },
  deployment_targets: {
    dispatcher: append,
    gateway: read,
    planner: read,
    'log-stream': read,
    'executor-bridge': read,
  },
  // `writeSteps` writes releases, heads, checks and the end of target locks: for the dispatcher and for the bridge.
  releases: {
    gateway: read,
    planner: read,
    'log-stream': read,
    dispatcher: { ...drop, insert: true, update: ['state', 'ended_at'] },
    'executor-bridge': { select: 'all', insert: true, update: ['state', 'ended_at'] },
    retention: drop,
  },
  release_heads: {
    gateway: read,
    planner: read,
    'log-stream': read,
    dispatcher: { ...drop, ...MOVED_HEAD },
    'executor-bridge': { select: 'all', ...MOVED_HEAD },
    retention: drop,
  },
  release_checks: {
    dispatcher: { select: 'all', insert: NEW_CHECK, update: [...RENEWED_CHECK, 'told_drifted'] },
    'executor-bridge': { select: 'all', insert: NEW_CHECK, update: RENEWED_CHECK },
    gateway: read,
    planner: read,
    'log-stream': read,
  },
  deployment_transitions: { dispatcher: append, gateway: read, 'log-stream': read },
  deployment_counts: {
    gateway: read,
    dispatcher: { select: 'all', insert: true, delete: true },
    retention: { insert: true },
  },
  deployment_names: { gateway: read, dispatcher: append },
  dropped_deployments: {
    dispatcher: { select: 'all', insert: true, delete: true, lock: true },
    retention: { select: 'all', insert: true, delete: true, lock: true },
  },
  pending_requests: {
    dispatcher: own,
    gateway: read,
    planner: read,
    'log-stream': read,
    retention: { select: 'all', delete: true, lock: true },
  },
  // Who may see a request sees its approvals. They go with the request.
  approvals: { dispatcher: own, gateway: read, planner: read, 'log-stream': read },
  queue_settings: {
    dispatcher: {
      select: 'all',
      update: ['tenant_running_limit', 'analysis_enabled', 'target_concurrency'],
    },
    gateway: read,
    planner: read,
    'log-stream': read,
  },
  leases: {
    dispatcher: own,
    gateway: read,
    planner: read,
    'log-stream': read,
    'executor-bridge': { select: 'all', lock: true },
    retention: drop,
  },
  // A target that is deleted has no lock.
  target_locks: {
    dispatcher: own,
    gateway: drop,
    planner: read,
    'log-stream': read,
    'executor-bridge': { select: 'all', update: ['deployment_id', 'epoch'] },
  },
  pending_targets: {
    dispatcher: own,
    gateway: read,
    planner: read,
    'log-stream': read,
    // Whether a request waits for a target whose lock ends.
    'executor-bridge': only('target_id'),
  },
  webhook_deliveries: { dispatcher: own, gateway: read },
  webhook_events: {
    dispatcher: own,
    gateway: { insert: true },
    'executor-bridge': { insert: true },
  },

  // Two services write steps, both by `writeSteps`: the dispatcher adds and ends them, the bridge moves them under a live lease.
  steps: {
    dispatcher: {
      select: 'all',
      insert: true,
      update: [
        ...['state', 'retry_count', 'ever_failed', 'error_message', 'failure_reason'],
        ...['started_at', 'completed_at', 'end_confirmed'],
      ],
      delete: true,
    },
    'executor-bridge': {
      select: 'all',
      update: [
        ...['state', 'retry_count', 'ever_failed', 'exit_code', 'error_message'],
        ...['failure_reason', 'started_at', 'attempt_started_at', 'completed_at', 'dropped_lines'],
      ],
    },
    gateway: read,
    planner: read,
    'log-stream': read,
    retention: drop,
  },

  // Execution. Retention in the dispatcher deletes old rows.
  instances: {
    'executor-bridge': { select: 'all', insert: true, update: 'all' },
    gateway: INSTANCE_SECRETS,
    planner: INSTANCE_SECRETS,
    dispatcher: INSTANCE_SECRETS,
    'log-stream': INSTANCE_SECRETS,
  },
  instance_slots: {
    'executor-bridge': { select: 'all', insert: true, update: ['retired'] },
    dispatcher: { select: 'all', lock: true },
    gateway: read,
    planner: read,
    'log-stream': read,
  },
  run_progress: {
    'executor-bridge': { select: 'all', insert: true, update: 'all' },
    dispatcher: drop,
    gateway: read,
    'log-stream': read,
    retention: drop,
  },
  command_results: {
    'executor-bridge': { select: 'all', insert: true, update: 'all' },
    dispatcher: drop,
    gateway: read,
    'log-stream': only('deployment_id', 'target_index', 'action_index', 'stdout_tail', 'stderr_tail'),
    retention: drop,
  },
  log_chunks: {
    'executor-bridge': { insert: true },
    dispatcher: drop,
    gateway: read,
    'log-stream': read,
    retention: drop,
  },
  // The bridge counts lines that are in no partition of a day.
  log_chunks_default: { 'executor-bridge': read },
  // A target that is changed or deleted loses its facts.
  target_facts: {
    'executor-bridge': { select: 'all', insert: true, update: 'all' },
    gateway: drop,
    planner: read,
    dispatcher: read,
    'log-stream': read,
  },
  agents: {
    // A new agent of a target replaces the former one with its id.
    'executor-bridge': { select: 'all', insert: true, update: { except: [] } },
    gateway: except('key_sealed', 'credential_hash'),
  },

  // Messages.
  outbox: { gateway: relay, dispatcher: relay, 'executor-bridge': relay },

  // At its start a service waits for the migrations of its version.
  _prisma_migrations: {
    gateway: applied,
    planner: applied,
    dispatcher: applied,
    'executor-bridge': applied,
    'log-stream': applied,
  },
}

/** `rotate-keys` reads and writes only the columns with secrets. */
function withRotation(tables: Record<string, Table>): Record<string, Table> {
  const result = { ...tables }
  for (const { table, key, column } of SEALED_PLACES) {
    const before = result[table]?.['rotate-keys']
    const select = new Set([...columnsOf(before?.select), ...Object.keys(key), column])
    const update = new Set([...columnsOf(before?.update), column])
    result[table] = { ...result[table], 'rotate-keys': { select: [...select], update: [...update] } }
  }
  return result
}

const columnsOf = (columns: Columns | undefined): readonly string[] => (Array.isArray(columns) ? columns : [])

/** The rights on each table, by role. */
export const TABLE_RIGHTS: Record<string, Table> = withRotation(SERVICES_TABLES)

/** The policies of row-level security call these with the rights of the reader. */
const EVERY_ROLE: readonly DatabaseRole[] = DATABASE_ROLES

/** The roles that may call each function. Functions of triggers are not listed, because no role calls them. */
export const FUNCTION_RIGHTS: Record<string, readonly DatabaseRole[]> = {
  sees_content: EVERY_ROLE,
  sees_deployment: EVERY_ROLE,
  sees_source: EVERY_ROLE,
  sees_target: EVERY_ROLE,
  sees_upload: EVERY_ROLE,
  sees_user: EVERY_ROLE,
  step_id: ['gateway'],
  // An index of source_versions calls it for each new version.
  version_precedence: ['gateway', 'rotate-keys'],
  target_lock_holds: ['gateway', 'planner', 'dispatcher', 'log-stream'],
  waiting_position: ['gateway', 'dispatcher', 'log-stream'],
  waiting_places: ['gateway'],
  waiting_pool_position: ['gateway', 'planner', 'dispatcher', 'log-stream'],
  matches_labels: ['executor-bridge'],
  audit_dropped: ['gateway'],
  ensure_log_partition: ['executor-bridge'],
  drop_log_partition: ['dispatcher', 'retention'],
  drop_audit: ['dispatcher', 'retention'],
}
