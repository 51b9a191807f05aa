import type { Queryable } from '@slipway/database'
import {
  type ActiveFreeze,
  activeFreezes,
  blockingFreezes,
  canOverrideFreezes,
  type Freeze,
  presentFreezes,
} from '@slipway/domain'

/** What is to be started, and who asked for it: all that freezes judge by. */
export interface FreezeSubject {
  tenant_id: string | null
  environment_id: string | null
  /** Null unless the source is a solution. */
  solution_id: string | null
  caller: { roles: string[]; tenant_id: string | null }
  /** Whether the caller asked to override freezes. */
  override: boolean
}

export interface Hold {
  freezes: ActiveFreeze[]
  can_override: boolean
}

export interface FreezesNow {
  /** No freeze is in force: nothing needs to be looked at. */
  none: boolean
  /** What holds such a deployment back; null when nothing does, or its caller overrode it and may. */
  hold(subject: FreezeSubject): Hold | null
}

/** The freezes as they are now, by the database's clock. */
export async function freezesNow(tx: Queryable): Promise<FreezesNow> {
  const { rows } = await tx.query<Freeze & { now: Date }>(
    `SELECT id, name, start_time, end_time, recurrence, start_offset, tenant_id, environment_id, solution_id, now() AS now
       FROM freezes WHERE end_time > now() OR recurrence IS NOT NULL`,
  )
  const now = rows[0]?.now ?? new Date(0)
  // Once for all requests: a recurrence takes longer to work out than all else.
  const inForce = presentFreezes(rows, now)
  return {
    none: inForce.length === 0,
    hold({ caller, override, ...place }) {
      const scope = { ...place, now }
      const blocking = blockingFreezes(inForce, scope)
      if (blocking.length === 0) return null
      // A freeze that came after the override was given counts too: the caller may be one who cannot override that.
      const canOverride = canOverrideFreezes(caller.roles, caller.tenant_id, blocking)
      return override && canOverride ? null : { freezes: activeFreezes(blocking, scope), can_override: canOverride }
    },
  }
}
