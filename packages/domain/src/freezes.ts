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

/** A moment and what would be deployed in it. */
export interface FreezeScope {
  now: Date
  tenant_id: string | null
  environment_id: string | null
  solution_id: string | null
}

/** The window of the freeze that `now` lies in, or null. The start belongs to it, the end does not. */
export function windowAt(
  freeze: Pick<Freeze, 'start_time' | 'end_time' | 'recurrence' | 'start_offset'>,
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

/** The freezes that block such a deployment now. Every id that a freeze names must match; one that names none is global. */
export function blockingFreezes<F extends Freeze>(freezes: readonly F[], scope: FreezeScope): F[] {
  return freezes.filter(
    (freeze) =>
      (freeze.tenant_id === null || freeze.tenant_id === scope.tenant_id) &&
      (freeze.environment_id === null || freeze.environment_id === scope.environment_id) &&
      (freeze.solution_id === null || freeze.solution_id === scope.solution_id) &&
      windowAt(freeze, scope.now) !== null,
  )
}

/** The same as `blockingFreezes`, in the form that answers carry. */
export function activeFreezes(freezes: readonly Freeze[], scope: FreezeScope): ActiveFreeze[] {
  return blockingFreezes(freezes, scope).map((freeze) => ({
    id: freeze.id,
    name: freeze.name,
    ends_at: (windowAt(freeze, scope.now)?.ends_at ?? new Date(freeze.end_time)).toISOString(),
  }))
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
