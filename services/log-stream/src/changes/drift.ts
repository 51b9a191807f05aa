import type { StreamResource } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { INSTANCE, readFreezes } from '@slipway/views'
import type { Change } from './change.ts'

interface Shown {
  id: string
  tenant_id: string | null
  shown: string
}

interface Drifting {
  /** What a record shows when it is new, as its event has told. */
  atFirst: string
  read(db: Queryable): Promise<Shown[]>
}

const rowsOf = (sql: string) => async (db: Queryable) => (await db.query<Shown>(sql, [])).rows

/**
 * What lists show otherwise without an event: how far deployments are, which slots are taken, and what time alone changes.
 * Each reads few rows: those that run, live, or may begin or end. Of targets that fade events tell, but for local ones: what
 * these are follows from the instances.
 */
const DRIFTING: Partial<Record<StreamResource, Drifting>> = {
  deployments: {
    atFirst: '0 0 0',
    read: rowsOf(
      `SELECT d.id, d.tenant_id, concat_ws(' ', p.ended_steps, p.completed_steps, p.failed_steps) AS shown
         FROM deployments d JOIN run_progress p ON p.deployment_id = d.id WHERE d.completed_at IS NULL`,
    ),
  },
  instances: {
    atFirst: 'online 0',
    read: rowsOf(
      `SELECT id, tenant_id, concat_ws(' ', item ->> 'status', item ->> 'active') AS shown
         FROM (SELECT i.id, i.tenant_id, ${INSTANCE} AS item FROM instances i WHERE i.removed_at IS NULL) shown`,
    ),
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

export interface Drift {
  /** What has changed since the last look; nothing at the first. */
  look(): Promise<Change[]>
}

/** Null for what changes with events alone. */
export function driftOf(resource: StreamResource, db: Queryable): Drift | null {
  const drifting = DRIFTING[resource]
  if (drifting === undefined) return null
  const { atFirst, read } = drifting
  let before: Map<string, string> | undefined
  return {
    async look() {
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
