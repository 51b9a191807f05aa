import type { Database, Queryable } from '@slipway/database'
import { isUuid } from '@slipway/domain'
import type { DropOptions } from './drop-options.ts'
import { recordDrop } from './record.ts'

/** Deployments of one transaction. */
const BATCH = 200
const FOUND_AT_ONCE = 20_000
/** Rows of one statement: a large deployment goes piece by piece. */
const ROWS = 10_000
const CHUNKS = 1_000
const REQUESTS = 1_000

export interface DeploymentRules {
  days: number
  /** The latest so many of each source and environment stay. */
  keep: number
}

/** Ended deployments that are old enough to go and are not among the latest of their source and environment. */
const OLD = `
  SELECT id, total_steps, created_at FROM (
    SELECT id, total_steps, created_at, completed_at,
           row_number() OVER (PARTITION BY source_id, environment_id ORDER BY created_at DESC, id DESC) AS place
      FROM deployments) d
   WHERE completed_at < now() - make_interval(days => $1) AND place > $2`

const OLD_REQUESTS = `status IN ('dispatched', 'cancelled', 'failed') AND created_at < now() - make_interval(days => $1)`

export async function countOldDeployments(
  db: Queryable,
  { days, keep }: DeploymentRules,
): Promise<{ deployments: number; steps: number; requests: number }> {
  const { rows } = await db.query<{ deployments: number; steps: number }>(
    `SELECT count(*) AS deployments, coalesce(sum(total_steps), 0)::bigint AS steps FROM (${OLD}) o`,
    [days, keep],
  )
  const requests = await db.query<{ count: number }>(
    `SELECT count(*) AS count FROM pending_requests WHERE ${OLD_REQUESTS}`,
    [days],
  )
  return { deployments: 0, steps: 0, ...rows[0], requests: requests.rows[0]?.count ?? 0 }
}

/** Drops old deployments with all that is theirs, and requests that waited and ended as long ago. Returns how many. */
export async function dropOldDeployments(options: DropOptions, rules: DeploymentRules): Promise<number> {
  const { database, signal, quarantine } = options
  let dropped = 0
  for (let more = true; more && !signal.aborted; ) {
    const found = await findOld(database, rules)
    const before = dropped
    for (let from = 0; from < found.length && !signal.aborted; from += BATCH) {
      const counts = await quarantine.together(
        found.slice(from, from + BATCH),
        (id) => id,
        (ids) => dropBatch(database, ids, rules),
      )
      for (const count of counts) dropped += count
    }
    // Those that cannot be dropped now are found again.
    more = found.length === FOUND_AT_ONCE && dropped > before
  }
  await dropOldRequests(database, rules.days, signal)
  while (!signal.aborted && (await dropSomeRemains(options)));
  return dropped
}

async function findOld(db: Queryable, { days, keep }: DeploymentRules): Promise<string[]> {
  // Looking at all of them is worth it only when there is one that is old.
  const { rowCount } = await db.query(
    'SELECT FROM deployments WHERE created_at < now() - make_interval(days => $1) LIMIT 1',
    [days],
  )
  if (rowCount === 0) return []
  const { rows } = await db.query<{ id: string }>(`${OLD} ORDER BY created_at LIMIT ${FOUND_AT_ONCE}`, [days, keep])
  return rows.map(({ id }) => id)
}

/** From its commit on they are gone for everybody; what can be many rows follows, and is found again after a crash. */
function dropBatch(database: Database, ids: readonly string[], { days, keep }: DeploymentRules): Promise<number> {
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<{ id: string }>(
      'SELECT id FROM deployments WHERE id = ANY ($1) AND completed_at IS NOT NULL ORDER BY id FOR UPDATE SKIP LOCKED',
      [ids],
    )
    const held = rows.map(({ id }) => id)
    if (held.length === 0) return 0
    await tx.query('INSERT INTO dropped_deployments (id) SELECT unnest($1::uuid[]) ON CONFLICT DO NOTHING', [held])
    await tx.query('DELETE FROM leases WHERE deployment_id = ANY ($1)', [held])
    await tx.query('DELETE FROM run_progress WHERE deployment_id = ANY ($1)', [held])
    await tx.query('DELETE FROM deployments WHERE id = ANY ($1)', [held])
    await recordDrop(tx, 'deployments', { deployments: held.length, older_than_days: days, kept_of_each: keep })
    return held.length
  })
}

async function dropOldRequests(database: Database, days: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { rowCount } = await database.query(
      `DELETE FROM pending_requests WHERE id IN (
         SELECT id FROM pending_requests WHERE ${OLD_REQUESTS} LIMIT ${REQUESTS} FOR UPDATE SKIP LOCKED)`,
      [days],
    )
    if ((rowCount ?? 0) < REQUESTS) return
  }
}

/** Deletes a part of what deployments left. False when there is nothing more. */
async function dropSomeRemains({ database, quarantine }: DropOptions): Promise<boolean> {
  const { rows } = await database.query<{ id: string }>(
    `SELECT id FROM dropped_deployments WHERE id <> ALL($1::uuid[]) ORDER BY id LIMIT ${BATCH}`,
    [quarantine.held.filter(isUuid)],
  )
  const ids = rows.map(({ id }) => id)
  await quarantine.together(
    ids,
    (id) => id,
    (some) => dropRemainsOf(database, some),
  )
  return ids.length > 0
}

function dropRemainsOf(database: Database, some: readonly string[]): Promise<void> {
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<{ id: string }>(
      'SELECT id FROM dropped_deployments WHERE id = ANY($1::uuid[]) ORDER BY id FOR UPDATE SKIP LOCKED',
      [some],
    )
    const ids = rows.map(({ id }) => id)
    const byKey = async (table: string, key: string, limit: number) => {
      const { rowCount } = await tx.query(
        `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE deployment_id = ANY ($1) LIMIT ${limit})`,
        [ids],
      )
      return (rowCount ?? 0) < limit
    }
    const steps = await byKey('steps', 'deployment_id, target_index, action_index', ROWS)
    const results = await byKey('command_results', 'deployment_id, target_index, action_index', ROWS)
    const lines = await byKey('log_chunks', 'deployment_id, first_line, created_at', CHUNKS)
    if (steps && results && lines) await tx.query('DELETE FROM dropped_deployments WHERE id = ANY ($1)', [ids])
  })
}
