/** What a rollback reads of a release: an attempt to deploy one source on one target. */
export interface PastRelease {
  deployment_id: string
  version: string
  values_hash: string | null
  is_current: boolean
  /** The deployment that was in force when this one began. */
  replaced_deployment_id: string | null
  /** The earlier deployment that this one brings back. */
  repeats_deployment_id: string | null
}

/** The releases of one source on one target. */
export interface RollbackTarget {
  id: string
  name: string
  /** Newest first. */
  history: readonly PastRelease[]
  /** Whether the last attempt failed, was cancelled or could not be rolled back. */
  hasFailed: boolean
}

export interface RollbackGroup {
  /** The deployment to repeat; null: there is no release before. */
  deployment_id: string | null
  /** Its version; null if there is none, or if it is too old to be known. */
  version: string | null
  targets: { id: string; name: string }[]
}

/** Groups the targets by the release that a rollback brings back, the largest group first. */
export function planRollback(targets: readonly RollbackTarget[]): RollbackGroup[] {
  const groups = new Map<string | null, RollbackGroup>()
  for (const { id, name, history, hasFailed } of targets) {
    const deployment_id = hasFailed ? findAfterFailure(history) : findReleaseBefore(history)
    const version = history.find((release) => release.deployment_id === deployment_id)?.version ?? null
    const group = groups.get(deployment_id) ?? { deployment_id, version, targets: [] }
    group.targets.push({ id, name })
    groups.set(deployment_id, group)
  }
  return [...groups.values()].sort((a, b) => b.targets.length - a.targets.length)
}

/** After a failed attempt this is the release in force, unless the attempt was itself a rollback: that is tried again. */
const findAfterFailure = (history: readonly PastRelease[]): string | null =>
  findFailedReturn(history) ?? history.find(({ is_current }) => is_current)?.deployment_id ?? null

/**
 * Returns the release that was in force before the present one, or null.
 *
 * Releases are a stack: a deployment puts one on top, and a rollback takes the top off. A rollback is a redeployment, so the
 * history has it as a new release that repeats an earlier one. What came between the two was left and does not return.
 */
export function findReleaseBefore(history: readonly PastRelease[]): string | null {
  const current = history.find(({ is_current }) => is_current)
  if (current === undefined) return null
  const known = new Map(history.map((release) => [release.deployment_id, release]))
  let top = findOriginal(known, current)
  for (;;) {
    const id = top.replaced_deployment_id
    const before = id === null ? undefined : known.get(id)
    // The id of a release is known also after retention has deleted it.
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
export function findFailedReturn(history: readonly PastRelease[]): string | null {
  const [last] = history
  const current = history.find(({ is_current }) => is_current)
  if (last === undefined || current === undefined) return null
  const known = new Map(history.map((release) => [release.deployment_id, release]))
  const original = findOriginal(known, last)
  const isReturn = original !== last && original !== findOriginal(known, current)
  return isReturn ? original.deployment_id : null
}

/** Follows repetitions to the release that they bring back. Each is older than the one before, so this ends. */
function findOriginal(known: ReadonlyMap<string, PastRelease>, release: PastRelease): PastRelease {
  const repeated = release.repeats_deployment_id ? known.get(release.repeats_deployment_id) : undefined
  return repeated === undefined ? release : findOriginal(known, repeated)
}
