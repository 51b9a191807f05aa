import type { StreamResource } from '@slipway/contracts'
import { nullable, type Queryable, readFreezes, statement, text, uuid } from '@slipway/database'
import { INSTANCE } from '@slipway/database/read-models'
import type { Change } from './change.ts'

const row = { id: uuid, tenant_id: nullable(uuid), shown: text }

/** The progress of running deployments. */
const findProgressShown = statement({
  name: 'log-stream.changes.find-progress',
  row,
  sql: `SELECT d.id, d.tenant_id, concat_ws(' ', p.ended_steps, p.completed_steps, p.failed_steps) AS shown
      FROM deployments d JOIN run_progress p ON p.deployment_id = d.id WHERE d.completed_at IS NULL AND NOT d.is_check`,
})

/** The status of each instance, and its number of leased slots. */
const findInstancesShown = statement({
  name: 'log-stream.changes.find-instances',
  row,
  sql: `SELECT id, tenant_id, concat_ws(' ', item ->> 'status', item ->> 'active') AS shown
      FROM (SELECT i.id, i.tenant_id, ${INSTANCE} AS item FROM instances i WHERE i.removed_at IS NULL) i`,
})

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
 * reads few rows. A target that becomes stale or offline has events, except for local targets, whose status follows from the instances.
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
