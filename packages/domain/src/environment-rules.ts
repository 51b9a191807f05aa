import { type Freeze, windowOutlook } from './freezes.ts'

/** Who must agree before a deployment starts in an environment. */
export interface ApprovalRule {
  count: number
  /** The id of the role that approvers need; null: every holder of the permission approves. */
  role: string | null
  allow_author: boolean
  expires_in_seconds: number
}

/** A window in which deployments may start. */
export type RuleWindow = Pick<Freeze, 'start_time' | 'end_time' | 'recurrence' | 'start_offset' | 'time_zone'>

/** Where a version must have been before, and for how long. */
export interface PromotionRule {
  from_environment_id: string
  hours: number
}

/** What an environment asks of every deployment that it, or a target of it, takes part in. */
export interface EnvironmentRules {
  approvals?: ApprovalRule
  windows?: RuleWindow[]
  promotion?: PromotionRule
}

/** When a deployment may start by the windows of its environments. */
export type WindowOutlook =
  | { is: 'inside' }
  /** `at`: the first moment at which every environment is inside one; null: it is too far ahead to know. */
  | { is: 'outside'; at: Date | null }
  /** No window of an environment comes any more. */
  | { is: 'over' }

/** Windows of two environments may meet seldom or never. This bounds the search. */
const MOST_STEPS = 1_000

/** When the first of these lists closes its present window; null: none has an open one that ends. */
export function closesAt(lists: readonly (readonly RuleWindow[])[], at: Date): Date | null {
  const ends = lists.flatMap((windows) => {
    const open = windows.map((window) => windowOutlook(window, at)).filter(({ isOpen }) => isOpen)
    return open.length === 0 ? [] : [Math.max(...open.map(({ until }) => until))]
  })
  const first = Math.min(...ends)
  return Number.isFinite(first) ? new Date(first) : null
}

/** Looks for the first moment from `from` on that lies in a window of each list. */
export function outlookOf(lists: readonly (readonly RuleWindow[])[], from: Date): WindowOutlook {
  let moment = from.getTime()
  for (let step = 0; step < MOST_STEPS; step += 1) {
    let next = moment
    for (const windows of lists) {
      const looks = windows.map((window) => windowOutlook(window, new Date(moment)))
      if (looks.some(({ isOpen }) => isOpen)) continue
      const soonest = Math.min(...looks.map(({ until }) => until))
      if (soonest === Number.POSITIVE_INFINITY) return { is: 'over' }
      next = Math.max(next, soonest)
    }
    if (next === moment) return step === 0 ? { is: 'inside' } : { is: 'outside', at: new Date(moment) }
    moment = next
  }
  return { is: 'outside', at: null }
}
