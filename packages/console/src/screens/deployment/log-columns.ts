import type { Plan } from './grid-rows.ts'
import type { LogLine } from './log-reads.ts'

export const LOG_COLUMNS = ['time', 'seconds', 'step'] as const
/** What the log shows of each line beside its number, target and text. */
export type LogColumn = (typeof LOG_COLUMNS)[number]

/** What the columns of a log need beside its lines. */
export interface LogContext {
  /** When the deployment started. */
  startedAt: string | null
  /** The length of the longest name of a target. */
  targetLength: number
  /** The name of the action of a step. */
  actionOf: (step: string) => string
}

/** What a column shows of a line. */
export function cellOf(column: LogColumn, { at, step }: LogLine, { startedAt, actionOf }: LogContext): string {
  if (column === 'step') return step === null ? '' : actionOf(step)
  if (at === '') return ''
  if (column === 'time') return clockOf(new Date(at))
  return startedAt === null ? '' : ((Date.parse(at) - Date.parse(startedAt)) / 1_000).toFixed(3)
}

const two = (number: number) => String(number).padStart(2, '0')
/** The time of the day, here. Intl takes 20 times as long, and the view draws up to 3,000 lines a second. */
const clockOf = (at: Date) =>
  `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${String(at.getMilliseconds()).padStart(3, '0')}`

/** The names of actions are needed only where the column of the steps is shown: there may be 200,000 steps. */
export function logContext(plan: Plan | null, startedAt: string | null, needsSteps: boolean): LogContext {
  const names = new Map(needsSteps ? plan?.steps.map(({ id, action_name }) => [id, action_name]) : [])
  const targetLength = plan?.steps.reduce((longest, { target_name }) => Math.max(longest, target_name.length), 0) ?? 0
  return { startedAt, targetLength, actionOf: (step) => names.get(step) ?? '' }
}
