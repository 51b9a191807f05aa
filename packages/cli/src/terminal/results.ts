import { isFinalState, type Schema } from '@slipway/client'
import { formatDuration } from './table.ts'

type Detail = Schema<'DeploymentDetail'>
type Step = Schema<'Step'>

interface TargetResult {
  target: string
  result: string
  steps: string
  duration: string
  /** Why the first failed step failed, or null. */
  reason: string | null
}

/** The result of a target for each state of a step. The first state that any step has decides. */
const RESULTS: readonly [Step['state'], string][] = [
  ['rolling_back', 'rolling back'],
  ['running', 'running'],
  ['rollback_failed', 'rollback failed'],
  ['rolled_back', 'rolled back'],
  ['failed', 'failed'],
  ['cancelled', 'cancelled'],
]

/** Returns one result for each target of a deployment, in the order of the plan. */
export function summarizeTargets({ plan, state }: Detail): TargetResult[] {
  const byTarget = new Map<string, Step[]>()
  for (const step of plan?.steps ?? []) byTarget.set(step.target_id, [...(byTarget.get(step.target_id) ?? []), step])
  return [...byTarget.values()].map((steps) => {
    const completed = steps.filter(({ state }) => state === 'completed').length
    const failed = steps.find(({ error_message }) => error_message !== null)
    return {
      target: steps[0]?.target_name ?? '',
      result: getResult(steps, isFinalState(state)),
      steps: `${completed}/${steps.length}`,
      duration: measureDuration(steps),
      reason: failed ? `${failed.action_name}: ${failed.error_message}` : null,
    }
  })
}

function getResult(steps: readonly Step[], hasEnded: boolean): string {
  const word = RESULTS.find(([state]) => steps.some((step) => step.state === state))?.[1]
  if (word !== undefined) return word
  if (steps.every(({ state }) => state === 'completed')) return 'success'
  const hasBegun = steps.some(({ state }) => state === 'completed')
  if (!hasEnded) return hasBegun ? 'running' : 'waiting'
  return hasBegun ? 'incomplete' : 'not touched'
}

function measureDuration(steps: readonly Step[]): string {
  const starts = steps.flatMap(({ started_at }) => (started_at === null ? [] : [Date.parse(started_at)]))
  const ends = steps.flatMap(({ completed_at, started_at }) =>
    completed_at === null || started_at === null ? [] : [Date.parse(completed_at)],
  )
  return formatDuration(starts.length === 0 || ends.length === 0 ? null : Math.max(...ends) - Math.min(...starts))
}
