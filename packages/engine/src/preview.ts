import { judgeFreezes } from '@slipway/domain'
import { blockersIn, type Decision } from './admit.ts'
import { type Asked, earliestStart, explain, type ShownBlocker } from './explain.ts'
import { targetsBusyInPreview } from './refusals.ts'
import { judgedAt } from './rules.ts'
import type { Snapshot, StartRequest } from './snapshot.ts'

/** What a preview says of the start of a deployment. */
export interface PreviewedStart {
  /** In the order in which they are shown. */
  blockers: ShownBlocker[]
  /** Null: nobody knows. */
  earliest_start: Date | null
  /** A sentence for each freeze in force: it blocks the deployment, or its caller overrides it. */
  freezes: string[]
  /** A sentence for each other blocker. */
  others: string[]
}

/** Tells the decision about a request that is not stored. */
export function previewStart(
  snapshot: Snapshot,
  request: StartRequest,
  { decision, asked }: { decision: Decision; asked: Asked },
): PreviewedStart {
  const found = blockersIn(decision)
  const refusal = targetsBusyInPreview(request, found)
  const blockers = explain(found, asked).map((blocker) =>
    blocker.code === 'target_lock' && refusal !== null ? { ...blocker, message: refusal } : blocker,
  )
  return {
    blockers,
    earliest_start: earliestStart(blockers, asked.now),
    freezes: freezeWarnings(snapshot, request),
    others: blockers.flatMap(({ code, message }) => (code === 'freeze' ? [] : [message])),
  }
}

function freezeWarnings({ freezes, now }: Snapshot, request: StartRequest): string[] {
  const { blocked, active_freezes } = judgeFreezes(freezes.presentAt(judgedAt(request, now)), request.subject)
  const what = blocked ? 'blocks this deployment' : 'is overridden and stays in force'
  return active_freezes.map(({ name, ends_at, target_ids }) => {
    const through = target_ids === undefined ? '' : ` (by ${target_ids.length} of its targets)`
    return `Freeze "${name}"${through} ${what} until ${ends_at}`
  })
}
