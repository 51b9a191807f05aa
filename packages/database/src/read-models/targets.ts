import { type ConcurrencyPolicy, encodeSqid, type InstanceSelector, type MaybeSelector } from '@slipway/domain'
import { reachability } from './reachability.ts'
import { findSightings } from './targets.sql.ts'
import { type StoredVariables, shownVariables, type ViewContext } from './variables.ts'

/** A connection without its secrets. */
export type ShownConnection =
  | { type: 'local' }
  | { type: 'ssh'; host: string; port: number; username: string; host_key?: string }
  | { type: 'agent' }
  | ({ type: 'simulated' } & Record<string, unknown>)

export interface TargetRow extends StoredVariables {
  number: number
  name: string
  description: string | null
  tenant_id: string | null
  environment_id: string | null
  connection: unknown
  instance_selector: unknown
  enabled: boolean
  concurrency: ConcurrencyPolicy | null
  managed_by: string | null
  created_at: Date
  updated_at: Date
  tags: { key: string; value: string }[]
}

export async function targetItems({ db, keys }: ViewContext, rows: readonly TargetRow[]) {
  const found = await findSightings.all(db, { ids: rows.map(({ id }) => id) })
  const sightings = new Map(found.map((sighting) => [sighting.id, sighting]))
  return rows.map((row) => {
    const sighting = sightings.get(row.id)
    const { id, number, name, description, tenant_id, environment_id, tags, enabled, concurrency, managed_by } = row
    return {
      id,
      sqid: encodeSqid('target', number),
      name,
      description,
      tenant_id,
      environment_id,
      tags,
      connection: shownConnection(row.connection, sighting?.host_key ?? null),
      ...shownVariables(keys, 'target', row),
      ...shownSelector(row),
      status: sighting?.status ?? 'offline',
      last_seen_at: sighting?.last_seen_at ?? null,
      ...reachability(row, sighting),
      enabled,
      concurrency,
      managed_by,
      created_at: row.created_at,
      updated_at: row.updated_at,
    }
  })
}

/** Shows the host key that was pinned on first use, unless the target has one of its own. */
function shownConnection(stored: unknown, pinnedHostKey: string | null): ShownConnection {
  const connection = stored as ShownConnection
  if (connection.type !== 'ssh') return connection
  const host_key = connection.host_key ?? pinnedHostKey
  return { ...connection, ...(host_key === null ? {} : { host_key }) }
}

/** A record stores the empty selector for any instance, and shows null. */
export function shownSelector({ instance_selector }: { instance_selector: unknown }): {
  instance_selector: MaybeSelector
} {
  const selector = instance_selector as InstanceSelector
  return { instance_selector: Object.keys(selector).length === 0 ? null : selector }
}
