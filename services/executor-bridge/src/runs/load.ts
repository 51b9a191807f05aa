import type { RunRef } from '@slipway/contracts'
import type { Database } from '@slipway/database'
import { fromRows } from '@slipway/domain'
import { actionsOf, type LeasedRun, lockLeasedRuns, targetsOf, touchedSteps } from '../targets/records.ts'
import { openProgress } from './progress.ts'
import type { RunRecords } from './spec.ts'

export interface LoadedRun {
  run: LeasedRun
  records: RunRecords
}

/** What each run needs, with its progress opened. Null where the instance does not hold the run's live lease. */
export function loadRuns(
  database: Database,
  instanceId: string,
  wanted: readonly RunRef[],
): Promise<(LoadedRun | null)[]> {
  const ids = wanted.map(({ deployment_id }) => deployment_id)
  return database.transaction(async (tx) => {
    const [runs, actions, targets, steps] = await Promise.all([
      lockLeasedRuns(tx, instanceId, wanted),
      actionsOf(tx, ids),
      targetsOf(tx, ids),
      touchedSteps(tx, ids),
    ])
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
    return wanted.map(({ epoch }) => loaded.get(epoch) ?? null)
  })
}
