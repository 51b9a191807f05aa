import { useRead } from '../api/queries.ts'
import { namesNothing, type Permission, questionOf, type RightObject } from './right-question.ts'
import { useSession } from './session.tsx'

/** Whether a user may do something. */
export interface Right {
  allowed: boolean
  /** Why not, in a sentence; null while the server is asked. */
  because: string | null
}

export const ALLOWED: Right = { allowed: true, because: null }

const FRESH_MS = 60_000

/**
 * Whether the user may do something, and why not. The server is asked if the permissions without a scope do not suffice. Without an object:
 * whether there is something for which the user has the permission. Null is not asked.
 */
export function useRight(permission: Permission | null, object?: RightObject): Right {
  const { canEverywhere } = useSession()
  const enabled = permission !== null && !canEverywhere(permission)
  const query = questionOf(permission ?? 'deployments:read', object)
  const { data, error } = useRead('askRight', { query }, { enabled, freshMs: FRESH_MS })
  // What the server cannot answer, it decides when it is done.
  if (!enabled || error !== null) return ALLOWED
  if (data === undefined) return { allowed: false, because: null }
  if (!data.allowed) return data
  if (!namesNothing(object)) return ALLOWED
  return { allowed: false, because: `It names no environment, and your roles give ${permission} only in a scope` }
}
