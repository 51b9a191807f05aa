import type { RunRef } from '@slipway/contracts'
import { type Database, isLocked } from '@slipway/database'
import { fromRows } from '@slipway/domain'
import {
  findActions,
  findTargets,
  findTouchedSteps,
  type LeasedRun,
  lockLeasedRuns,
  waitBriefly,
} from '../targets/records.sql.ts'
import { openProgress } from './progress.ts'
import type { RunRecords } from './spec.ts'

export interface LoadedRun {
  run: LeasedRun
  records: RunRecords
}

/**
 * Everything that each run needs. Opens its progress. Null if the instance does not hold the live lease of the run, or if another
 * transaction has locked it: the next sync takes it.
 */
export async function loadRuns(
  database: Database,
  instanceId: string,
  refs: readonly RunRef[],
): Promise<(LoadedRun | null)[]> {
  try {
    return await loadTogether(database, instanceId, refs)
  } catch (error) {
    if (!isLocked(error)) throw error
    if (refs.length === 1) return [null]
    return (await Promise.all(refs.map((run) => loadRuns(database, instanceId, [run])))).flat()
  }
}

function loadTogether(database: Database, instanceId: string, refs: readonly RunRef[]): Promise<(LoadedRun | null)[]> {
  const deployment_ids = refs.map(({ deployment_id }) => deployment_id)
  return database.transaction(async (tx) => {
    const [, runs, ...rows] = await Promise.all([
      waitBriefly.run(tx),
      lockLeasedRuns.all(tx, { runs: refs, instance_id: instanceId }),
      findActions.all(tx, { deployment_ids }),
      findTargets.all(tx, { deployment_ids }),
      findTouchedSteps.all(tx, { deployment_ids }),
    ])
    const [actions, targets, steps] = [byDeployment(rows[0]), byDeployment(rows[1]), byDeployment(rows[2])]
    const opened = await openProgress(
      tx,
      runs.filter(({ open }) => !open),
    )
    const loaded = new Map(
      runs.map((run): [number, LoadedRun] => {
        const { deployment_id: id, epoch } = run
        const next_line = opened.get(epoch)?.next_line ?? run.next_line
        const rows = { actions: actions.get(id) ?? [], targets: targets.get(id) ?? [] }
        const records = {
          plan: fromRows({ plan_head: run.plan_head, ...rows }),
          definitions: rows.actions.map(({ definition }) => definition),
          access: rows.targets,
          steps: steps.get(id) ?? [],
        }
        return [epoch, { run: { ...run, next_line }, records }]
      }),
    )
    return refs.map(({ epoch }) => loaded.get(epoch) ?? null)
  })
}

function byDeployment<R extends { deployment_id: string }>(rows: readonly R[]): Map<string, R[]> {
  const grouped = new Map<string, R[]>()
  for (const row of rows) {
    const known = grouped.get(row.deployment_id)
    if (known) known.push(row)
    else grouped.set(row.deployment_id, [row])
  }
  return grouped
}
