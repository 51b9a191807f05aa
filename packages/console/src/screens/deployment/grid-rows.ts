import type { Answer, Schema } from '@slipway/client'
import type { StepStates } from './step-states.ts'

export type Plan = NonNullable<Answer<'getDeployment'>['plan']>
export type Step = Plan['steps'][number]

type TargetMode = Schema<'TargetMode'>

export interface GridRow {
  target: string
  steps: Step[]
  /** Which batch of targets it belongs to, from 1; null: the targets do not run in batches. */
  batch: number | null
}

export interface GridColumn {
  name: string
  sequence: string
  /** Whether it is the first of its sequence. */
  isFirst: boolean
}

/** The number of targets in a batch; null: one after another, or all at once. */
export function batchSizeOf(mode: TargetMode): number | null {
  if (typeof mode === 'string' || mode.rolling.batch_size === 1) return null
  return mode.rolling.batch_size
}

/** Groups the steps by target, in the order of the plan. Targets run in this order, batch after batch. */
export function arrange(
  steps: readonly Step[],
  batchSize: number | null = null,
): { rows: GridRow[]; columns: GridColumn[] } {
  const rows = new Map<string, GridRow>()
  for (const step of steps) {
    const row = rows.get(step.target_id)
    if (row === undefined) {
      const batch = batchSize === null ? null : Math.floor(rows.size / batchSize) + 1
      rows.set(step.target_id, { target: step.target_name, steps: [step], batch })
    } else row.steps.push(step)
  }
  for (const row of rows.values()) {
    row.steps.sort((a, b) => a.sequence_order - b.sequence_order || a.action_order - b.action_order)
  }
  const [first] = rows.values()
  const columns = first?.steps.map(({ action_name, sequence_name, sequence_order }, index, all) => ({
    name: action_name,
    sequence: sequence_name,
    isFirst: sequence_order !== all[index - 1]?.sequence_order,
  }))
  return { rows: [...rows.values()], columns: columns ?? [] }
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

export interface Cell {
  row: number
  column: number
}

/** The place of a step in these rows; null if none of them has it. */
export function cellOfStep(rows: readonly GridRow[], id: string): Cell | null {
  for (const [row, { steps }] of rows.entries()) {
    const column = steps.findIndex((step) => step.id === id)
    if (column >= 0) return { row, column }
  }
  return null
}
