import type { Item } from '@slipway/client'

export type Release = Item<'listTargetReleases'>

/**
 * Returns the release that was in force before the present one, or null. `history` has the releases of one source on one
 * target, newest first.
 *
 * Releases are a stack: a deployment puts one on top, and a rollback takes the top off. A rollback is a redeployment, so the
 * history has it as a new release that repeats an earlier one. What came between the two was left and does not return.
 */
export function findReleaseBefore(history: readonly Release[]): string | null {
  const current = history.find(({ is_current }) => is_current)
  if (current === undefined) return null
  const known = new Map(history.map((release) => [release.deployment_id, release]))
  let top = findOriginal(known, current)
  for (;;) {
    const id = top.replaced_deployment_id
    const before = id === null ? undefined : known.get(id)
    // The server knows the id of a release that retention has deleted.
    if (before === undefined) return id
    const original = findOriginal(known, before)
    // The same version with the same values again is no other release.
    if (before.version !== top.version || before.values_hash !== top.values_hash) return original.deployment_id
    top = original
  }
}

/**
 * Returns the release that a failed rollback was to bring back, or null if the last attempt was no rollback. Trying again must
 * not lead to the release that it was to leave.
 */
export function findFailedReturn(history: readonly Release[]): string | null {
  const [last] = history
  const current = history.find(({ is_current }) => is_current)
  if (last === undefined || current === undefined) return null
  const known = new Map(history.map((release) => [release.deployment_id, release]))
  const original = findOriginal(known, last)
  const isReturn = original !== last && original !== findOriginal(known, current)
  return isReturn ? original.deployment_id : null
}

/** Follows repetitions to the release that they bring back. Each is older than the one before, so this ends. */
function findOriginal(known: ReadonlyMap<string, Release>, release: Release): Release {
  const repeated = release.repeats_deployment_id ? known.get(release.repeats_deployment_id) : undefined
  return repeated === undefined ? release : findOriginal(known, repeated)
}
