import type { StreamResource } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { readFreezes } from '@slipway/database'
import type { Change } from './change.ts'
import { findInstancesShown, findProgressShown } from './unannounced.sql.ts'

interface ShownValue {
  id: string
  tenant_id: string | null
  shown: string
}

interface UnannouncedValues {
  /** What a new record shows, as its event has reported. */
  atFirst: string
  read(db: Queryable): Promise<ShownValue[]>
}

/**
 * Values of lists that change without an event: progress, leased slots, and values that depend on the time. Each statement
 * reads few rows. The fading of targets has events, except for local targets, whose status follows from the instances.
 */
const UNANNOUNCED_VALUES: Partial<Record<StreamResource, UnannouncedValues>> = {
  deployments: {
    atFirst: '0 0 0',
    read: (db) => findProgressShown.all(db),
  },
  instances: {
    atFirst: 'online 0',
    read: (db) => findInstancesShown.all(db),
  },
  freezes: {
    atFirst: 'false',
    async read(db) {
      const { freezes, now } = await readFreezes(db)
      const inForce = new Set(freezes.presentAt(now).map(({ id }) => id))
      return freezes.all.map(({ id, tenant_id }) => ({ id, tenant_id, shown: String(inForce.has(id)) }))
    },
  },
}

export interface UnannouncedChanges {
  /** Returns the changes since the last call; none at the first call. */
  find(): Promise<Change[]>
}

/** Null if every change of this kind has an event. */
export function unannouncedChangesOf(resource: StreamResource, db: Queryable): UnannouncedChanges | null {
  const values = UNANNOUNCED_VALUES[resource]
  if (values === undefined) return null
  const { atFirst, read } = values
  let before: Map<string, string> | undefined
  return {
    async find() {
      const rows = await read(db)
      const known = before
      before = new Map(rows.map(({ id, shown }) => [id, shown]))
      if (known === undefined) return []
      const timestamp = new Date().toISOString()
      return rows
        .filter(({ id, shown }) => shown !== (known.get(id) ?? atFirst))
        .map(({ id, tenant_id }) => ({ id, tenant_id, what: 'updated', timestamp }))
    },
  }
}
