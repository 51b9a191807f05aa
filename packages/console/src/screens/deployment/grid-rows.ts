import type { Answer } from '@slipway/client'
import type { StepStates } from './step-states.ts'

export type Plan = NonNullable<Answer<'getDeployment'>['plan']>
export type Step = Plan['steps'][number]

export interface GridRow {
  target: string
  steps: Step[]
}

/** Groups the steps by target, in the order of the plan. */
export function arrange(steps: readonly Step[]): { rows: GridRow[]; columns: string[] } {
  const rows = new Map<string, GridRow>()
  for (const step of steps) {
    const row = rows.get(step.target_id)
    if (row === undefined) rows.set(step.target_id, { target: step.target_name, steps: [step] })
    else row.steps.push(step)
  }
  for (const row of rows.values()) {
    row.steps.sort((a, b) => a.sequence_order - b.sequence_order || a.action_order - b.action_order)
  }
  const [first] = rows.values()
  return { rows: [...rows.values()], columns: first?.steps.map(({ action_name }) => action_name) ?? [] }
}

export const OUTLOOKS = ['failed', 'running', 'waiting', 'done'] as const
/** How a target fares: whether one of its steps failed, it has begun, not begun, or has nothing left to do. */
export type Outlook = (typeof OUTLOOKS)[number]

const FAILED: ReadonlySet<string> = new Set(['failed', 'rollback_failed'])
export const isFailed = (state: string): boolean => FAILED.has(state)
const FINAL: ReadonlySet<string> = new Set(['completed', 'skipped', 'cancelled', 'rolled_back', ...FAILED])

export function outlookOf({ steps }: GridRow, live: StepStates): Outlook {
  let [isDone, hasBegun] = [true, false]
  for (const step of steps) {
    const state = live.get(step.id) ?? step.state
    if (isFailed(state)) return 'failed'
    if (!FINAL.has(state)) isDone = false
    if (state !== 'pending') hasBegun = true
  }
  return isDone ? 'done' : hasBegun ? 'running' : 'waiting'
}
