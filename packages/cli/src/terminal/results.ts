import type { Schema } from '@slipway/client'
import { durationText } from './table.ts'

type Detail = Schema<'DeploymentDetail'>
type Step = Schema<'Step'>

interface TargetResult {
  target: string
  result: string
  steps: string
  duration: string
  /** Why it failed, or null. */
  reason: string | null
}

/** What a target's steps came to, the first that fits: state of any step, word for it. */
const RESULTS: readonly [Step['state'], string][] = [
  ['rollback_failed', 'rollback failed'],
  ['rolled_back', 'rolled back'],
  ['failed', 'failed'],
  ['cancelled', 'cancelled'],
]

/** One result for each target of an ended deployment, in the order of its plan. */
export function resultsOf({ plan }: Detail): TargetResult[] {
  const byTarget = new Map<string, Step[]>()
  for (const step of plan?.steps ?? []) byTarget.set(step.target_id, [...(byTarget.get(step.target_id) ?? []), step])
  return [...byTarget.values()].map((steps) => {
    const completed = steps.filter(({ state }) => state === 'completed').length
    const failed = steps.find(({ error_message }) => error_message !== null)
    return {
      target: steps[0]?.target_name ?? '',
      result: wordFor(steps),
      steps: `${completed}/${steps.length}`,
      duration: durationOf(steps),
      reason: failed ? `${failed.action_name}: ${failed.error_message}` : null,
    }
  })
}

function wordFor(steps: readonly Step[]): string {
  const word = RESULTS.find(([state]) => steps.some((step) => step.state === state))?.[1]
  if (word !== undefined) return word
  if (steps.every(({ state }) => state === 'completed')) return 'success'
  return steps.some(({ state }) => state === 'completed') ? 'incomplete' : 'not touched'
}

function durationOf(steps: readonly Step[]): string {
  const starts = steps.flatMap(({ started_at }) => (started_at === null ? [] : [Date.parse(started_at)]))
  const ends = steps.flatMap(({ completed_at, started_at }) =>
    completed_at === null || started_at === null ? [] : [Date.parse(completed_at)],
  )
  return durationText(starts.length === 0 || ends.length === 0 ? null : Math.max(...ends) - Math.min(...starts))
}
