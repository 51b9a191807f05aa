import type { Queryable } from '@slipway/database'
import { encodeSqid } from '@slipway/domain'
import { LOST_AFTER } from './instances.ts'
import { type Looking, type StoredVariables, shownVariables } from './variables.ts'

/** What of a connection may be read again. */
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
  enabled: boolean
  created_at: Date
  updated_at: Date
  tags: { key: string; value: string }[]
}

/** Targets as lists show them. */
export async function targetItems({ db, keys }: Looking, rows: TargetRow[]) {
  const sightings = await targetSightings(
    db,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => {
    const sighting = sightings.get(row.id)
    const { id, number, name, description, tenant_id, environment_id, tags, enabled, created_at, updated_at } = row
    return {
      ...{ id, sqid: encodeSqid('target', number), name, description, tenant_id, environment_id, tags },
      connection: shownConnection(row.connection, sighting?.host_key ?? null),
      ...shownVariables(keys, 'target', row),
      status: sighting?.status ?? 'offline',
      last_seen_at: sighting?.last_seen_at ?? null,
      ...{ enabled, created_at, updated_at },
    }
  })
}

/** A host key that was pinned on first use counts like one that was given. */
function shownConnection(stored: unknown, pinnedHostKey: string | null): ShownConnection {
  const connection = stored as ShownConnection
  if (connection.type !== 'ssh') return connection
  const host_key = connection.host_key ?? pinnedHostKey
  return { ...connection, ...(host_key === null ? {} : { host_key }) }
}

/** A target that was not reached for this long is shown as something else than online. */
export const REACHED_FOR = '90 seconds'

/** What a target is by its `last_seen_at`. */
export const targetStatus = (onlineFor = `interval '${REACHED_FOR}'`) =>
  `CASE WHEN last_seen_at > now() - ${onlineFor} THEN 'online'
        WHEN last_seen_at > now() - interval '10 min' THEN 'stale'
        ELSE 'offline' END`

interface Sighting {
  id: string
  status: 'online' | 'stale' | 'offline'
  last_seen_at: Date | null
  /** The key that an SSH host showed when it was first reached. */
  host_key: string | null
}

/**
 * When each target was last reached, and what that makes it, by the database's clock. Nothing ever reaches a local or a
 * simulated target: it is there while an instance is.
 */
async function targetSightings(db: Queryable, ids: string[]): Promise<Map<string, Sighting>> {
  const { rows } = await db.query<Sighting>(
    `WITH seen AS (
       SELECT t.id, f.host_key, t.connection ->> 'type' IN ('local', 'simulated') AS is_local,
         CASE WHEN t.connection ->> 'type' IN ('local', 'simulated') THEN (SELECT max(last_heartbeat_at) FROM instances)
              ELSE f.last_seen_at END AS last_seen_at
       FROM targets t LEFT JOIN target_facts f ON f.target_id = t.id
       WHERE t.id = ANY($1::uuid[]))
     SELECT id, host_key, last_seen_at,
       ${targetStatus(`CASE WHEN is_local THEN interval '${LOST_AFTER}' ELSE interval '${REACHED_FOR}' END`)} AS status
     FROM seen`,
    [ids],
  )
  return new Map(rows.map((row) => [row.id, row]))
}
