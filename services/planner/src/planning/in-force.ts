import type { Queryable, RowOf } from '@slipway/database'
import { findInForce as findReleases, type Viewer } from '@slipway/database/read-models'
import { isUnchanged, type Plan, type ReplacedTarget } from '@slipway/domain'
import type { KeyRing } from '@slipway/runtime'
import { keyOfHash, valuesHashes } from './values-hash.ts'

type Release = RowOf<typeof findReleases>

export interface TargetInForce extends ReplacedTarget {
  /** Whether the same versions and values are in force, nothing was attempted since, and no check found a change. */
  unchanged: boolean
}

/**
 * What is in force now on each target of the plan, in its order. `guesses`: the caller gives secrets. Then a release of another
 * user is not compared: that the values are equal would confirm a guess.
 */
export async function findInForce(
  db: Queryable,
  keyRing: KeyRing,
  caller: Viewer & { user_id: string },
  { plan, guesses }: { plan: Plan; guesses: boolean },
): Promise<TargetInForce[]> {
  const target_ids = plan.targets.map(({ id }) => id)
  const found = await findReleases.all(db, { source_id: plan.source.id, target_ids, tenant_id: caller.tenant_id })
  const releases = new Map(found.map((release) => [release.target_id, release]))
  const hashes = hashesUnderKeysOf(keyRing, plan, found)
  return plan.targets.map(({ id, name }, index) => {
    const release = releases.get(id)
    if (release === undefined) return { id, name, values_hash: null, replaced: null, unchanged: false }
    const isHidden = guesses && release.triggered_by_id !== caller.user_id
    const hash = hashes.get(keyOfHash(release.values_hash ?? ''))?.[index] ?? null
    const values_hash = isHidden ? null : hash
    const target = { id, name, values_hash, replaced: release }
    return { ...target, unchanged: isUnchanged(target) && release.is_latest && !release.has_drifted }
  })
}

/** The hashes of the plan under each key that made a hash of a release: keys may have been rotated since. */
function hashesUnderKeysOf(keyRing: KeyRing, plan: Plan, releases: readonly Release[]): Map<string, string[]> {
  const keyIds = new Set(releases.flatMap(({ values_hash }) => (values_hash === null ? [] : [keyOfHash(values_hash)])))
  return new Map([...keyIds].map((keyId) => [keyId, valuesHashes(keyRing, plan, keyId)]))
}
