import type { Item, Schema } from '@slipway/client'
import { type StoredTimes, type Times, timeFields, timesOf } from '../freezes/freeze-times.ts'
import { BROWSER_ZONE } from '../freezes/zones.ts'

export type Rules = NonNullable<Item<'listEnvironments'>['rules']>
type GivenRules = Schema<'CreateEnvironment'>['rules']

const HOUR_SECONDS = 3_600

export interface WindowDraft extends Times {
  /** Identifies the window while it changes. */
  row: number
  /** As the server has it; null: it is new. */
  stored: StoredTimes | null
}

/** The rules of an environment while a form shows them; null is for a rule that the environment does not have. */
export interface RulesDraft {
  approvals: { count: number | string; role: string | null; allowAuthor: boolean; hours: number | string } | null
  windows: WindowDraft[]
  promotion: { from: string | null; hours: number | string } | null
}

export const NEW_APPROVALS: NonNullable<RulesDraft['approvals']> = {
  count: 1,
  role: null,
  allowAuthor: false,
  hours: 24,
}
export const NEW_PROMOTION: NonNullable<RulesDraft['promotion']> = { from: null, hours: 0 }

export function draftOf(rules: Rules | null): RulesDraft {
  const { approvals, windows = [], promotion } = rules ?? {}
  return {
    approvals:
      approvals === undefined
        ? null
        : {
            count: approvals.count,
            role: approvals.role,
            allowAuthor: approvals.allow_author,
            hours: approvals.expires_in_seconds / HOUR_SECONDS,
          },
    windows: windows.map((stored, row) => ({ row, stored, ...timesOf(stored) })),
    promotion: promotion === undefined ? null : { from: promotion.from_environment_id, hours: promotion.hours },
  }
}

/** The working hours of the next Monday to Friday, and of all weeks after them. */
export function newWindow(row: number, now: Date): WindowDraft {
  const days = (8 - now.getDay()) % 7 || 7
  const monday = new Date(now.getFullYear(), now.getMonth(), now.getDate() + days)
  const date = [monday.getFullYear(), monday.getMonth() + 1, monday.getDate()].map(twoDigits).join('-')
  return {
    row,
    stored: null,
    start: `${date}T09:00`,
    end: `${date}T16:00`,
    zone: BROWSER_ZONE,
    recurrence: 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR',
  }
}

const twoDigits = (number: number) => String(number).padStart(2, '0')

/** The rules as the API takes them: all of them, because a change replaces all. Null: no rule. */
export function rulesOf({ approvals, windows, promotion }: RulesDraft): NonNullable<GivenRules> | null {
  const given = {
    ...(approvals === null
      ? {}
      : {
          approvals: {
            count: Number(approvals.count),
            role: approvals.role,
            allow_author: approvals.allowAuthor,
            expires_in_seconds: Math.round(Number(approvals.hours) * HOUR_SECONDS),
          },
        }),
    ...(windows.length === 0 ? {} : { windows: windows.map(windowOf) }),
    ...(promotion?.from == null
      ? {}
      : { promotion: { from_environment_id: promotion.from, hours: Number(promotion.hours) } }),
  }
  return Object.keys(given).length === 0 ? null : given
}

/** An unchanged window as it is stored: a new start_time would change the offset of a recurrence without a zone. */
function windowOf({ stored, row: _, ...times }: WindowDraft) {
  if (stored !== null && isSame(times, timesOf(stored))) {
    const { start_time, end_time, recurrence = null, time_zone = null } = stored
    return { start_time, end_time, recurrence, time_zone }
  }
  return timeFields(times)
}

const isSame = (one: Times, other: Times) =>
  one.start === other.start && one.end === other.end && one.zone === other.zone && one.recurrence === other.recurrence
