import type { StreamResource } from '@slipway/contracts'
import { type FreezeRow, freezeItem, INSTANCE, type Queryable, targetStatus } from '@slipway/database'
import type { Change } from './change.ts'

interface Shown {
  id: string
  tenant_id: string | null
  shown: string
}

interface Drifting {
  everyMs: number
  /** What a record shows when it is new, as its event has told. */
  atFirst: string
  read(db: Queryable): Promise<Shown[]>
}

const rowsOf = (sql: string) => async (db: Queryable) => (await db.query<Shown>(sql, [])).rows

/**
 * What lists show otherwise without an event: how far deployments are, which slots are taken, and what time alone changes.
 * Each reads few rows: those that run, live, or may begin or end. What a local target is follows from the instances.
 */
const DRIFTING: Partial<Record<StreamResource, Drifting>> = {
  deployments: {
    everyMs: 1_000,
    atFirst: '0 0 0',
    read: rowsOf(
      `SELECT d.id, d.tenant_id, concat_ws(' ', p.ended_steps, p.completed_steps, p.failed_steps) AS shown
         FROM deployments d JOIN run_progress p ON p.deployment_id = d.id WHERE d.completed_at IS NULL`,
    ),
  },
  instances: {
    everyMs: 1_000,
    atFirst: 'online 0',
    read: rowsOf(
      `SELECT id, NULL AS tenant_id, concat_ws(' ', item ->> 'status', item ->> 'active') AS shown
         FROM (SELECT i.id, ${INSTANCE} AS item FROM instances i WHERE i.removed_at IS NULL) shown`,
    ),
  },
  freezes: {
    everyMs: 1_000,
    atFirst: 'false',
    async read(db) {
      const { rows } = await db.query<FreezeRow>(
        `SELECT id, tenant_id, start_time, end_time, recurrence, start_offset, time_zone FROM freezes
          WHERE end_time > now() - interval '1 minute' OR recurrence IS NOT NULL`,
        [],
      )
      return rows.map((row) => ({ id: row.id, tenant_id: row.tenant_id, shown: String(freezeItem(row).active) }))
    },
  },
  targets: {
    everyMs: 5_000,
    atFirst: 'online',
    // A minute beyond what is shown as stale: so that it is seen to be offline before it is seen no more.
    read: rowsOf(
      `SELECT t.id, t.tenant_id, ${targetStatus()} AS shown FROM target_facts f JOIN targets t ON t.id = f.target_id
        WHERE f.last_seen_at > now() - interval '11 min' AND t.connection ->> 'type' <> 'local'`,
    ),
  },
}

export interface Drift {
  everyMs: number
  /** What has changed since the last look; nothing at the first. */
  look(): Promise<Change[]>
}

/** Null for what changes with events alone. */
export function driftOf(resource: StreamResource, db: Queryable): Drift | null {
  const drifting = DRIFTING[resource]
  if (drifting === undefined) return null
  const { everyMs, atFirst, read } = drifting
  let before: Map<string, string> | undefined
  return {
    everyMs,
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
