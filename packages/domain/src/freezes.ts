import { windowVerdict } from './recurrence/windows.ts'

export interface Freeze {
  id: string
  name: string
  start_time: Date | string
  end_time: Date | string
  /** Value of an RFC 5545 RRULE by which the window from `start_time` to `end_time` comes again. */
  recurrence?: string | null
  /** Zone of `start_time`, as `+02:00`, in which the recurrence counts. */
  start_offset?: string | null
  /** The zone in which the recurrence counts, as `Europe/Berlin`; where it is null, `start_offset` all year. */
  time_zone?: string | null
  tenant_id: string | null
  environment_id: string | null
  solution_id: string | null
}

/** A freeze as the refusal of a deployment tells it. */
export interface ActiveFreeze {
  id: string
  name: string
  ends_at: string
  /** The targets by which it applies; absent where it applies by what the request names. */
  target_ids?: string[]
}

/** A tenant and an environment to which targets of a deployment belong. */
export interface TargetPlace {
  tenant_id: string | null
  environment_id: string | null
  /** The targets that belong to both, where that is of interest. */
  target_ids?: readonly string[]
}

/** Where something would be deployed, as freezes see it. */
export interface FreezePlace {
  /** What the request names. */
  tenant_id: string | null
  environment_id: string | null
  /** Null unless the source is a solution. */
  solution_id: string | null
  /** Each tenant and environment to which a selected target belongs. */
  targets: readonly TargetPlace[]
}

/** What is to be started, and who asked for it: all that freezes judge by. */
export interface FreezeSubject extends FreezePlace {
  caller: { roles: readonly string[]; tenant_id: string | null }
  /** Whether the caller asked to override freezes. */
  override: boolean
}

export interface FreezeVerdict {
  /** It must not start: freezes are in force, and its caller did not override them, or may not. */
  blocked: boolean
  can_override: boolean
  /** Those in force, also where they are overridden. */
  active_freezes: ActiveFreeze[]
}

type Times = Pick<Freeze, 'start_time' | 'end_time' | 'recurrence' | 'start_offset' | 'time_zone'>

/** The window that a moment lies in, or null. */
interface FreezeWindow {
  window: { starts_at: Date; ends_at: Date } | null
  /** What is said of the window holds from this moment until before that one, in milliseconds. */
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

/** The window of the freeze that `now` lies in, or null. The start belongs to it, the end does not. */
export const windowAt = (freeze: Times, now: Date) => lookAt(freeze, now).window

/** Freezes, ready to be asked often which of them are in force: they are looked at again only after the next boundary. */
export class FreezeSet<F extends Freeze = Freeze> {
  readonly all: readonly F[]
  #present: { freezes: readonly F[]; from: number; until: number } | undefined

  constructor(freezes: readonly F[]) {
    this.all = freezes
  }

  /** The freezes that are in force at this moment, each with its present window as its only one. */
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
 * The places by which a freeze applies to such a deployment. Every id that the freeze names must match; a freeze that names
 * none is global. Its tenant and environment match what the request names, or what one selected target belongs to; its
 * solution only what is deployed. An empty array where the request itself matches, null where nothing does.
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

/** Groups targets by the tenant and the environment to which they belong. */
export function targetPlaces(
  targets: readonly { id: string; tenant_id: string | null; environment_id: string | null }[],
): TargetPlace[] {
  const places = new Map<string, TargetPlace & { target_ids: string[] }>()
  for (const { id, tenant_id, environment_id } of targets) {
    const key = `${tenant_id} ${environment_id}`
    const place = places.get(key) ?? { tenant_id, environment_id, target_ids: [] }
    place.target_ids.push(id)
    places.set(key, place)
  }
  return [...places.values()]
}

/**
 * Whether a deployment may start while these freezes are in force: the one rule for previews, creates, redeploys and
 * requests that wait. A freeze that begins after an override was given counts too: its caller may not be allowed to
 * override that one.
 */
export function judgeFreezes(inForce: readonly Freeze[], { caller, override, ...place }: FreezeSubject): FreezeVerdict {
  const about = inForce.flatMap((freeze) => {
    const places = placesOf(freeze, place)
    return places === null ? [] : [{ freeze, places }]
  })
  const freezes = about.map(({ freeze }) => freeze)
  const can_override = canOverrideFreezes(caller.roles, caller.tenant_id, freezes)
  return {
    blocked: about.length > 0 && !(override && can_override),
    can_override,
    active_freezes: about.map(({ freeze: { id, name, end_time }, places }) => {
      const told = { id, name, ends_at: new Date(end_time).toISOString() }
      return places.length === 0 ? told : { ...told, target_ids: places.flatMap(({ target_ids = [] }) => target_ids) }
    }),
  }
}

/** Admins may; an admin of a tenant only where every one of these freezes is of that tenant. */
export function canOverrideFreezes(
  roles: readonly string[],
  callerTenantId: string | null,
  freezes: readonly Pick<Freeze, 'tenant_id'>[],
): boolean {
  if (!roles.includes('admin')) return false
  return callerTenantId === null || freezes.every((freeze) => freeze.tenant_id === callerTenantId)
}
