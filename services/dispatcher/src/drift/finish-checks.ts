import { type Database, enqueue, eventMessage, Quarantine } from '@slipway/database'
import type { Logger } from '@slipway/runtime'
import { dropRemains } from '../retention/deployments.ts'
import { DELETE_DEPLOYMENTS, lockEnded, noteDropped } from '../retention/retention.sql.ts'
import { checkResults } from './metrics.ts'
import { claimDriftChanges, findEndedRuns, findRecordedRuns, recordResults } from './results.sql.ts'

interface FinishOptions {
  database: Database
  logger: Logger
}

/** Records what ended checks have found. Returns how many have ended. */
export async function recordChecks({ database, logger }: FinishOptions): Promise<number> {
  const runs = await findEndedRuns.all(database)
  for (const { id, began_at } of runs) {
    const results = await recordResults.all(database, { run_id: id, began_at })
    for (const { result } of results) if (result !== null) checkResults.inc({ result })
    const drifted = results.filter(({ result }) => result === 'drifted').length
    if (drifted > 0) logger.warn('targets have drifted', { deployment_id: id, targets: results.length, drifted })
  }
  return runs.length
}

/** Sends an event for each release that has drifted since the last event, or no longer has. Returns how many. */
export function publishDriftChanges(database: Database): Promise<number> {
  return database.transaction(async (tx) => {
    const changed = await claimDriftChanges.all(tx)
    await enqueue(
      tx,
      changed.map(({ id, has_drifted, tenant_id }) =>
        eventMessage(has_drifted ? 'release.drifted' : 'release.restored', { release_id: id, tenant_id }),
      ),
    )
    return changed.length
  })
}

/** Deletes checks whose results are recorded: what they found stays with the release. */
export async function deleteChecks({ database, logger }: FinishOptions): Promise<void> {
  const found = (await findRecordedRuns.all(database)).map(({ id }) => id)
  if (found.length === 0) return
  await database.transaction(async (tx) => {
    const ids = (await lockEnded.all(tx, { ids: found })).map(({ id }) => id)
    await noteDropped.run(tx, { ids })
    for (const statement of DELETE_DEPLOYMENTS) await statement.run(tx, { ids })
  })
  const quarantine = new Quarantine({ task: 'drift', logger })
  await dropRemains({ database, quarantine, signal: new AbortController().signal })
}
