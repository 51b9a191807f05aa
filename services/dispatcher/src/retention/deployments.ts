import type { Database, Queryable } from '@slipway/database'
import { isUuid } from '@slipway/domain'
import { type DropOptions, recordDrop } from './drop.ts'
import {
  BATCH,
  countOld,
  countOldRequests,
  DELETE_DEPLOYMENTS,
  DELETE_REMAINS,
  deleteHeadsOfDeletedTargets,
  deleteOldReleases,
  deleteOldRequests,
  FOUND_AT_ONCE,
  findDropped,
  findOldDeployments,
  forgetDropped,
  hasOld,
  lockDropped,
  lockEnded,
  MOST_ROWS,
  noteDropped,
} from './retention.sql.ts'

interface DeploymentRules {
  days: number
  /** How many of the latest deployments stay, per source and environment. */
  keep: number
}

export async function countOldDeployments(
  db: Queryable,
  rules: DeploymentRules,
): Promise<{ deployments: number; steps: number; requests: number }> {
  const { count: requests } = await countOldRequests.one(db, rules)
  return { ...(await countOld.one(db, rules)), requests }
}

/** Deletes old deployments with all their rows, and old ended requests. Returns how many deployments. */
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
    // Deployments that cannot be deleted now would be found again.
    more = found.length === FOUND_AT_ONCE && dropped > before
  }
  await dropOldRequests(database, rules.days, signal)
  await dropRemains(options)
  await dropOldReleases(database, signal)
  return dropped
}

async function findOld(db: Queryable, rules: DeploymentRules): Promise<string[]> {
  if (!(await hasOld.one(db, rules)).has) return []
  return (await findOldDeployments.all(db, rules)).map(({ id }) => id)
}

/** Deletes the deployments. Their many other rows are deleted afterwards, also after a crash. */
function dropBatch(database: Database, ids: readonly string[], { days, keep }: DeploymentRules): Promise<number> {
  return database.transaction(async (tx) => {
    const held = (await lockEnded.all(tx, { ids })).map(({ id }) => id)
    if (held.length === 0) return 0
    await noteDropped.run(tx, { ids: held })
    for (const statement of DELETE_DEPLOYMENTS) await statement.run(tx, { ids: held })
    await recordDrop(tx, 'deployments', { deployments: held.length, older_than_days: days, kept_of_each: keep })
    return held.length
  })
}

async function dropOldRequests(database: Database, days: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await deleteOldRequests.run(database, { days })) === MOST_ROWS.requests);
}

async function dropOldReleases(database: Database, signal: AbortSignal): Promise<void> {
  await deleteHeadsOfDeletedTargets.run(database)
  while (!signal.aborted && (await deleteOldReleases.run(database)) === MOST_ROWS.releases);
}

/** Deletes the rows that deleted deployments left. */
export async function dropRemains(options: Pick<DropOptions, 'database' | 'quarantine' | 'signal'>): Promise<void> {
  while (!options.signal.aborted && (await dropSomeRemains(options)));
}

/** Deletes some of the rows that deployments left. Returns false if there are none. */
async function dropSomeRemains({
  database,
  quarantine,
}: Pick<DropOptions, 'database' | 'quarantine'>): Promise<boolean> {
  const found = await findDropped.all(database, { except: quarantine.held.filter(isUuid) })
  const ids = found.map(({ id }) => id)
  await quarantine.together(
    ids,
    (id) => id,
    (some) => dropRemainsOf(database, some),
  )
  return ids.length > 0
}

function dropRemainsOf(database: Database, some: readonly string[]): Promise<void> {
  return database.transaction(async (tx) => {
    const ids = (await lockDropped.all(tx, { ids: some })).map(({ id }) => id)
    let isEmpty = true
    for (const { statement, most } of DELETE_REMAINS) {
      if ((await statement.run(tx, { ids })) === most) isEmpty = false
    }
    if (isEmpty) await forgetDropped.run(tx, { ids })
  })
}
