import { presentStart } from './recurrence.ts'

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
}

/** Where something would be deployed, as freezes see it. */
export interface FreezePlace {
  tenant_id: string | null
  environment_id: string | null
  /** Null unless the source is a solution. */
  solution_id: string | null
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

/** The window of the freeze that `now` lies in, or null. The start belongs to it, the end does not. */
export function windowAt(
  freeze: Pick<Freeze, 'start_time' | 'end_time' | 'recurrence' | 'start_offset' | 'time_zone'>,
  now: Date,
): { starts_at: Date; ends_at: Date } | null {
  const { recurrence, start_offset = null } = freeze
  const first = { starts_at: new Date(freeze.start_time), ends_at: new Date(freeze.end_time) }
  if (typeof recurrence !== 'string') return first.starts_at <= now && now < first.ends_at ? first : null
  const starts_at = presentStart({ ...freeze, recurrence, start_offset }, now)
  const length = first.ends_at.getTime() - first.starts_at.getTime()
  return starts_at && { starts_at, ends_at: new Date(starts_at.getTime() + length) }
}

/** The freezes that are in force at this moment, each with its present window as its only one. */
export function presentFreezes<F extends Freeze>(freezes: readonly F[], now: Date): F[] {
  return freezes.flatMap((freeze) => {
    const window = windowAt(freeze, now)
    return window === null
      ? []
      : [{ ...freeze, start_time: window.starts_at, end_time: window.ends_at, recurrence: null }]
  })
}

/** Whether a freeze is about such a deployment. Every id that it names must match; one that names none is global. */
const touches = (freeze: Freeze, place: FreezePlace) =>
  (freeze.tenant_id === null || freeze.tenant_id === place.tenant_id) &&
  (freeze.environment_id === null || freeze.environment_id === place.environment_id) &&
  (freeze.solution_id === null || freeze.solution_id === place.solution_id)

/**
 * Whether a deployment may start now: the one rule for previews, creates, redeploys, and requests that wait. A freeze that
 * came after an override was given counts too: the caller may be one who cannot override that.
 */
export function judgeFreezes(
  freezes: readonly Freeze[],
  { caller, override, ...place }: FreezeSubject,
  now: Date,
): FreezeVerdict {
  const about = freezes.filter((freeze) => touches(freeze, place))
  const inForce = presentFreezes(about, now)
  const can_override = canOverrideFreezes(caller.roles, caller.tenant_id, inForce)
  return {
    blocked: inForce.length > 0 && !(override && can_override),
    can_override,
    active_freezes: inForce.map(({ id, name, end_time }) => ({ id, name, ends_at: new Date(end_time).toISOString() })),
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
