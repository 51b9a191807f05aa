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
  /** Whether there are no older releases. */
  isWhole: boolean
  /** The deployment in force; null: none is. */
  inForce: string | null
  /** Whether the last attempt failed, was cancelled or could not be rolled back. */
  hasFailed: boolean
}

export interface RollbackPlan {
  groups: RollbackGroup[]
  /** The targets whose history must be read further back, by id. They are in no group. */
  open: string[]
}

export interface RollbackGroup {
  /** The deployment to repeat; null: there is no release before. */
  deployment_id: string | null
  /** Its version; null if there is none, or if it is too old to be known. */
  version: string | null
  targets: { id: string; name: string }[]
}

/** Groups the targets by the release that a rollback brings back, the largest group first. */
export function planRollback(targets: readonly RollbackTarget[]): RollbackPlan {
  const groups = new Map<string | null, RollbackGroup>()
  const open: string[] = []
  for (const target of targets) {
    const { id, name, history } = target
    const deployment_id = findReturn(target)
    if (deployment_id === undefined) {
      open.push(id)
      continue
    }
    const version = history.find((release) => release.deployment_id === deployment_id)?.version ?? null
    const group = groups.get(deployment_id) ?? { deployment_id, version, targets: [] }
    group.targets.push({ id, name })
    groups.set(deployment_id, group)
  }
  return { groups: [...groups.values()].sort((a, b) => b.targets.length - a.targets.length), open }
}

/**
 * What a rollback brings back. After a failed attempt this is the release in force, unless the attempt was itself a rollback: that is tried
 * again.
 */
function findReturn({ history, isWhole, inForce, hasFailed }: RollbackTarget): string | null | undefined {
  if (inForce === null) return null
  if (!hasFailed) return findReleaseBefore(history, isWhole)
  const failed = findFailedReturn(history, isWhole)
  return failed === null ? inForce : failed
}

/**
 * Returns the release that was in force before the present one, or null; undefined if an older release than the history has decides.
 *
 * Releases are a stack: a deployment puts one on top, and a rollback takes the top off. A rollback is a redeployment, so the
 * history has it as a new release that repeats an earlier one. What came between the two was left and does not return.
 */
export function findReleaseBefore(history: readonly PastRelease[], isWhole = true): string | null | undefined {
  const current = history.find(({ is_current }) => is_current)
  if (current === undefined) return isWhole ? null : undefined
  const known = new Map(history.map((release) => [release.deployment_id, release]))
  let top = findOriginal(known, current, isWhole)
  for (;;) {
    if (top === undefined) return undefined
    const id: string | null = top.replaced_deployment_id
    const before: PastRelease | undefined = id === null ? undefined : known.get(id)
    // The id of a release is known also after retention has deleted it.
    if (before === undefined) return id === null || isWhole ? id : undefined
    const original = findOriginal(known, before, isWhole)
    if (original === undefined) return undefined
    // The same version with the same values again is no other release.
    if (before.version !== top.version || before.values_hash !== top.values_hash) return original.deployment_id
    top = original
  }
}

/**
 * Returns the release that a failed rollback was to bring back, or null if the last attempt was no rollback; undefined if an older release
 * than the history has decides. Trying again must not lead to the release that it was to leave.
 */
export function findFailedReturn(history: readonly PastRelease[], isWhole = true): string | null | undefined {
  const [last] = history
  const current = history.find(({ is_current }) => is_current)
  if (last?.repeats_deployment_id == null) return null
  if (current === undefined) return isWhole ? null : undefined
  const known = new Map(history.map((release) => [release.deployment_id, release]))
  const original = findOriginal(known, last, isWhole)
  const present = findOriginal(known, current, isWhole)
  if (original === undefined || present === undefined) return undefined
  const isReturn = original !== last && original !== present
  return isReturn ? original.deployment_id : null
}

/** Follows repetitions to the release that they bring back. Each is older than the one before, so this ends. */
function findOriginal(
  known: ReadonlyMap<string, PastRelease>,
  release: PastRelease,
  isWhole: boolean,
): PastRelease | undefined {
  const { repeats_deployment_id: id } = release
  if (id === null) return release
  const repeated = known.get(id)
  if (repeated !== undefined) return findOriginal(known, repeated, isWhole)
  return isWhole ? release : undefined
}
