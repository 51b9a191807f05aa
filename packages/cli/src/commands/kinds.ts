import { formatSelector } from '@slipway/client'
import type { Column } from '../terminal/output.ts'
import { showTime } from '../terminal/table.ts'
import type { Names } from './names.ts'
import type { RecordByKind, RecordKind } from './records.ts'

/** What the commands of a kind of record show, and how they delete it. */
export interface Kind<K extends RecordKind> {
  kind: K
  columns: (names: Names) => readonly Column<RecordByKind[K]>[]
  /** What else a deletion does. */
  deletion?: string
}

const count = (values: object) => Object.keys(values).length
export const formatLabels = (labels: Readonly<Record<string, string | null>>) =>
  Object.entries(labels)
    .map(([key, value]) => (value === null ? key : `${key}=${value}`))
    .join(' ')

function describeSource<K extends 'action' | 'sequence' | 'solution'>(kind: K): Kind<K> {
  return {
    kind,
    columns: (names) => [
      ['ID', ({ sqid }) => sqid],
      ['NAME', ({ name }) => name],
      ['LATEST', ({ latest_version }) => latest_version],
      ['TENANT', ({ tenant_id }) => names(tenant_id)],
      ['CHANGED', ({ updated_at }) => showTime(updated_at)],
      ['DESCRIPTION', ({ description }) => description],
    ],
    deletion: 'with all of its versions',
  }
}

export const KINDS: { [K in RecordKind]: Kind<K> } = {
  action: describeSource('action'),
  sequence: describeSource('sequence'),
  solution: describeSource('solution'),
  environment: {
    kind: 'environment',
    columns: (names) => [
      ['ID', ({ sqid }) => sqid],
      ['NAME', ({ name }) => name],
      ['POSITION', ({ position }) => position],
      ['TENANT', ({ tenant_id }) => names(tenant_id)],
      ['VARIABLES', ({ variables }) => count(variables)],
      ['INSTANCES', ({ instance_selector }) => formatSelector(instance_selector) || 'all'],
      ['CHANGED', ({ updated_at }) => showTime(updated_at)],
    ],
  },
  tenant: {
    kind: 'tenant',
    columns: () => [
      ['ID', ({ sqid }) => sqid],
      ['NAME', ({ name }) => name],
      ['SLUG', ({ slug }) => slug],
      ['VARIABLES', ({ variables }) => count(variables)],
      ['INSTANCES', ({ instance_selector }) => formatSelector(instance_selector) || 'all'],
      ['CHANGED', ({ updated_at }) => showTime(updated_at)],
    ],
  },
  target: {
    kind: 'target',
    columns: (names) => [
      ['ID', ({ sqid }) => sqid],
      ['NAME', ({ name }) => name],
      ['STATUS', ({ enabled, status }) => (enabled ? status : `${status}, disabled`)],
      ['ENVIRONMENT', ({ environment_id }) => names(environment_id)],
      ['CONNECTION', ({ connection }) => connection.type],
      ['LAST SEEN', ({ last_seen_at }) => showTime(last_seen_at)],
      ['TAGS', ({ tags }) => tags.map(({ key, value }) => `${key}=${value}`).join(' ')],
      ['SINCE', ({ unreachable_since }) => showTime(unreachable_since)],
      ['LAST ERROR', ({ last_error }) => last_error],
    ],
  },
  freeze: {
    kind: 'freeze',
    columns: (names) => [
      ['ID', ({ id }) => id],
      ['NAME', ({ name }) => name],
      ['ACTIVE', ({ active }) => (active ? 'yes' : 'no')],
      ['START', ({ start_time }) => showTime(start_time)],
      ['END', ({ end_time }) => showTime(end_time)],
      ['RECURRENCE', ({ recurrence }) => recurrence],
      ['ZONE', ({ time_zone }) => time_zone],
      ['FREEZES', (freeze) => formatScope(freeze, names)],
    ],
    deletion: 'the requests that it holds can start',
  },
  instance: {
    kind: 'instance',
    columns: (names) => [
      ['ID', ({ id }) => id],
      ['NAME', ({ name }) => name],
      ['STATUS', ({ status }) => status],
      ['RUNS', ({ active, capacity }) => `${active} of ${capacity}`],
      ['VERSION', ({ version }) => version],
      ['LAST HEARTBEAT', ({ last_heartbeat_at }) => showTime(last_heartbeat_at)],
      ['TENANT', ({ tenant_id }) => names(tenant_id) ?? 'all'],
      ['LABELS', ({ labels }) => formatLabels(labels)],
    ],
    deletion: 'release its name',
  },
  user: {
    kind: 'user',
    columns: (names) => [
      ['ID', ({ id }) => id],
      ['E-MAIL', ({ email }) => email],
      ['USER', ({ username }) => username],
      ['STATUS', ({ status }) => status],
      ['ROLES', formatRoles],
      ['TENANT', ({ tenant_id }) => names(tenant_id)],
      ['CREATED', ({ created_at }) => showTime(created_at)],
    ],
  },
  'service-account': {
    kind: 'service-account',
    columns: (names) => [
      ['ID', ({ id }) => id],
      ['NAME', ({ username }) => username],
      ['STATUS', ({ status }) => status],
      ['ROLES', formatRoles],
      ['TENANT', ({ tenant_id }) => names(tenant_id)],
      ['CREATED', ({ created_at }) => showTime(created_at)],
    ],
    deletion: 'its API keys and trusts, too',
  },
  role: {
    kind: 'role',
    columns: () => [
      ['ID', ({ id }) => id],
      ['NAME', ({ name }) => name],
      ['BUILT IN', ({ built_in }) => (built_in ? 'yes' : 'no')],
      ['PERMISSIONS', ({ permissions }) => permissions.length],
      ['DESCRIPTION', ({ description }) => description],
    ],
  },
  webhook: {
    kind: 'webhook',
    columns: (names) => [
      ['ID', ({ id }) => id],
      ['URL', ({ url }) => url],
      ['ENABLED', ({ enabled, disabled_reason }) => (enabled ? 'yes' : `no: ${disabled_reason ?? 'switched off'}`)],
      ['EVENTS', ({ events }) => events.join(' ')],
      ['TENANT', ({ tenant_id }) => names(tenant_id) ?? 'all'],
    ],
  },
}

/** Tables have no room for the scopes: `slipway bindings list` shows them. A server of an earlier version has none. */
function formatRoles({ roles, role_bindings = [] }: RecordByKind['user']): string {
  return [...roles, ...new Set(role_bindings.map(({ role }) => `${role} (scoped)`))].join(', ')
}

function formatScope({ tenant_id, environment_id, solution_id }: RecordByKind['freeze'], names: Names): string {
  const parts = [
    tenant_id && `tenant ${names(tenant_id)}`,
    environment_id && `environment ${names(environment_id)}`,
    solution_id && `solution ${names(solution_id)}`,
  ]
  return parts.filter((part) => part !== null).join(', ') || 'everything'
}
