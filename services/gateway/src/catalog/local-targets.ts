import { isDeepStrictEqual } from 'node:util'
import { Problem, requireMay } from '@slipway/domain'
import { isObject } from '@slipway/http'
import type { CallingUser } from '../callers/calling-user.ts'

/** Takes any value, because a body is authorized before it is validated. */
export const isLocal = (connection: unknown): boolean => isObject(connection) && connection['type'] === 'local'

/**
 * Commands of a local target run on the machine of the orchestration instance, beside those of all tenants.
 * The built-in role admin of a tenant-bound user contains the permission too, so the tenant is checked as well.
 * @throws Problem INSUFFICIENT_PERMISSIONS
 */
export function requireMayMakeLocal(caller: CallingUser): void {
  if (caller.tenant_id !== null) {
    throw new Problem(
      'INSUFFICIENT_PERMISSIONS',
      'A user of a tenant cannot make a local target or change its instance_selector: ask an administrator of the installation',
    )
  }
  requireMay(caller, 'targets:local')
}

interface Placed {
  connection: unknown
  instance_selector?: unknown
}

/**
 * The selector decides on which machines the commands of a local target run, so a change of it needs the same right as making the
 * target local. Repeating the selector changes nothing.
 * @throws Problem INSUFFICIENT_PERMISSIONS
 */
export function requireMayPlaceLocal(caller: CallingUser, old: Placed, changed: Placed): void {
  if (!isLocal(changed.connection)) return
  const isPlacedAnew =
    changed.instance_selector !== undefined && !isDeepStrictEqual(changed.instance_selector, old.instance_selector)
  if (isLocal(old.connection) && !isPlacedAnew) return
  requireMayMakeLocal(caller)
}
