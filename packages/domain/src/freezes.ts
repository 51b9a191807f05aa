import { startsFrom, windowVerdict } from './recurrence/windows.ts'

export interface Freeze {
  id: string
  name: string
  start_time: Date | string
  end_time: Date | string
  /** Value of an RFC 5545 RRULE: when the window from `start_time` to `end_time` repeats. */
  recurrence?: string | null
  /** UTC offset of `start_time`, such as `+02:00`. */
  start_offset?: string | null
  /** The time zone of the recurrence, such as `Europe/Berlin`. If it is null, `start_offset` holds all year. */
  time_zone?: string | null
  tenant_id: string | null
  environment_id: string | null
  solution_id: string | null
}

/** A freeze as the error of a refused deployment shows it. */
export interface ActiveFreeze {
  id: string
  name: string
  ends_at: string
  /** The targets that the freeze matches. Absent if the freeze matches the request itself. */
  target_ids?: string[]
}

/** The tenant and the environment of some targets of a deployment. */
export interface TargetPlace {
  tenant_id: string | null
  environment_id: string | null
  /** The targets that belong to both. Absent if the caller does not need them. */
  target_ids?: readonly string[]
}

/** Everything about a deployment that a freeze can match. */
export interface FreezePlace {
  /** The tenant that the request names. */
  tenant_id: string | null
  environment_id: string | null
  /** Null unless the source is a solution. */
  solution_id: string | null
  /** Each combination of tenant and environment among the selected targets. */
  targets: readonly TargetPlace[]
}

/** What is to be started, and its caller: all inputs of the decision. */
export interface FreezeSubject extends FreezePlace {
  caller: { may_override_freezes: boolean; tenant_id: string | null }
  /** Whether the caller asked to override freezes. */
  override: boolean
}

export interface FreezeVerdict {
  /** Whether the deployment must not start: freezes are active, and the caller did not override them or is not allowed to. */
  blocked: boolean
  can_override: boolean
  /** All active freezes, overridden ones too. */
  active_freezes: ActiveFreeze[]
}

type Times = Pick<Freeze, 'start_time' | 'end_time' | 'recurrence' | 'start_offset' | 'time_zone'>

/** The window that contains a moment, or null. */
interface FreezeWindow {
  window: { starts_at: Date; ends_at: Date } | null
  /** This result holds from here until just before `until`, in milliseconds. */
  from: number
  until: number
}

function lookAt(freeze: Times, now: Date): FreezeWindow {
  const { recurrence, start_offset = null } = freeze
  const first = { starts_at: new Date(freeze.start_time), ends_at: new Date(freeze.end_time) }
  const [start, end] = [first.starts_at.getTime(), first.ends_at.getTime()]
  if (typeof recurrence === 'string') {
    const verdict = windowVerdict({ ...freeze, recurrence, start_offset }, now.getTime())
    if (verdict.start === null) return { ...verdict, window: null }
    const ends_at = new Date(verdict.start + end - start)
    return { ...verdict, window: { starts_at: new Date(verdict.start), ends_at } }
  }
  if (now < first.starts_at) return { window: null, from: Number.NEGATIVE_INFINITY, until: start }
  if (now < first.ends_at) return { window: first, from: start, until: end }
  return { window: null, from: end, until: Number.POSITIVE_INFINITY }
}

/** The window of the freeze that contains `now`, or null. The start belongs to the window, the end does not. */
export const windowAt = (freeze: Times, now: Date) => lookAt(freeze, now).window

/** Whether the window is open at `now`, and until when that is known, in milliseconds. Infinity: it never opens again. */
export function windowOutlook(freeze: Times, now: Date): { isOpen: boolean; until: number } {
  const { window, until } = lookAt(freeze, now)
  return { isOpen: window !== null, until }
}

const DAY = 24 * 60 * 60_000
/** How far ahead all windows are listed. */
const NEAR = 14 * DAY
/** How far ahead the next window is searched, if none begins earlier. */
const FAR = 366 * DAY
const MAX_WINDOWS = 100

/** The window that contains `now`, if any, and the next ones, in order. */
export function windowsFrom(freeze: Times, now: Date): { starts_at: Date; ends_at: Date }[] {
  const { recurrence, start_offset = null } = freeze
  const [start, end] = [new Date(freeze.start_time).getTime(), new Date(freeze.end_time).getTime()]
  const moment = now.getTime()
  const range = { now: moment, until: moment + NEAR, farthest: moment + FAR, most: MAX_WINDOWS }
  const isAhead = moment < end && start <= range.farthest
  const starts =
    typeof recurrence === 'string' ? startsFrom({ ...freeze, recurrence, start_offset }, range) : isAhead ? [start] : []
  return starts.map((each) => ({ starts_at: new Date(each), ends_at: new Date(each + end - start) }))
}

/** When the next window begins, within a year; null: none does. */
export function nextStart(freeze: Times, now: Date): Date | null {
  const { recurrence, start_offset = null } = freeze
  const start = new Date(freeze.start_time)
  const moment = now.getTime()
  const range = { now: moment, until: moment, farthest: moment + FAR, most: MAX_WINDOWS }
  if (typeof recurrence !== 'string') return start > now && start.getTime() <= range.farthest ? start : null
  const next = startsFrom({ ...freeze, recurrence, start_offset }, range).find((each) => each > moment)
  return next === undefined ? null : new Date(next)
}

/** Caches which freezes are active. A freeze is evaluated again only after its next boundary. */
export class FreezeSet<F extends Freeze = Freeze> {
  readonly all: readonly F[]
  #present: { freezes: readonly F[]; from: number; until: number } | undefined

  constructor(freezes: readonly F[]) {
    this.all = freezes
  }

  /** The freezes that are active at this moment. Each has its present window as its only one. */
  presentAt(now: Date): readonly F[] {
    const moment = now.getTime()
    const known = this.#present
    if (known !== undefined && known.from <= moment && moment < known.until) return known.freezes
    let [from, until] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
    const freezes: F[] = []
    for (const freeze of this.all) {
      const look = lookAt(freeze, now)
      from = Math.max(from, look.from)
      until = Math.min(until, look.until)
      const { window } = look
      if (window === null) continue
      freezes.push({ ...freeze, start_time: window.starts_at, end_time: window.ends_at, recurrence: null })
    }
    this.#present = { freezes, from, until }
    return freezes
  }
}

/**
 * The places at which a freeze matches a deployment. Every id that the freeze names must match; a freeze without ids matches
 * every deployment. Tenant and environment match the request or a selected target. The solution matches only the deployed one.
 * Returns an empty array if the request itself matches, null if nothing does.
 */
function placesOf(freeze: Freeze, request: FreezePlace): TargetPlace[] | null {
  if (freeze.solution_id !== null && freeze.solution_id !== request.solution_id) return null
  const matches = (place: Pick<TargetPlace, 'tenant_id' | 'environment_id'>) =>
    (['tenant_id', 'environment_id'] as const).every(
      (field) => freeze[field] === null || freeze[field] === request[field] || freeze[field] === place[field],
    )
  if (matches(request)) return []
  const places = request.targets.filter(matches)
  return places.length === 0 ? null : places
}

/** Whether a freeze names a tenant or an environment. Otherwise the places of targets do not matter. */
export const concernPlaces = (freezes: readonly Pick<Freeze, 'tenant_id' | 'environment_id'>[]): boolean =>
  freezes.some(({ tenant_id, environment_id }) => tenant_id !== null || environment_id !== null)

/**
 * Whether a deployment may start during these freezes: the one rule for new and for pending requests. A
 * freeze that begins after an override counts too, because the caller may not be allowed to override it.
 */
export function judgeFreezes(inForce: readonly Freeze[], { caller, override, ...place }: FreezeSubject): FreezeVerdict {
  const about = inForce.flatMap((freeze) => {
    const places = placesOf(freeze, place)
    return places === null ? [] : [{ freeze, places }]
  })
  const freezes = about.map(({ freeze }) => freeze)
  const can_override = canOverride(caller, freezes)
  return {
    blocked: about.length > 0 && !(override && can_override),
    can_override,
    active_freezes: about.map(({ freeze: { id, name, end_time }, places }) => {
      const summary = { id, name, ends_at: new Date(end_time).toISOString() }
      return places.length === 0
        ? summary
        : { ...summary, target_ids: places.flatMap(({ target_ids = [] }) => target_ids) }
    }),
  }
}

/**
 * Whether the caller may override these freezes, or the rules of these environments. An admin of a tenant may only if all of them
 * belong to that tenant.
 */
export function canOverride(
  { may_override_freezes, tenant_id }: FreezeSubject['caller'],
  owned: readonly Pick<Freeze, 'tenant_id'>[],
): boolean {
  if (!may_override_freezes) return false
  return tenant_id === null || owned.every((one) => one.tenant_id === tenant_id)
}
