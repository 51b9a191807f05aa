import { createHash } from 'node:crypto'
import { canonicalJson, type Plan, releaseContents } from '@slipway/domain'
import type { KeyRing } from '@slipway/runtime'

/** Change this when the hash gets other contents. Otherwise an upgrade would report that every target changes. */
const FORM = 'v1'
/** Characters of base64url, 132 bits: enough against collisions. */
const DIGEST_LENGTH = 22

/**
 * For each target of the plan a hash of what the deployment brings there: the versions and the values. It is keyed, because
 * values may be secrets. Empty if the key is not in the ring.
 */
export function valuesHashes(keyRing: KeyRing, plan: Plan, keyId = keyRing.currentKeyId): string[] {
  if (keyRing.hmac('values', keyId) === null) return []
  const shared = createHash('sha256')
    .update(
      releaseContents(plan)
        .map((piece) => `${canonicalJson(piece)}\n`)
        .join(''),
    )
    .digest()
  const hashes = new Map<string, string>()
  return plan.targets.map(({ variables }) => {
    const values = canonicalJson(variables)
    const known = hashes.get(values)
    if (known !== undefined) return known
    const digest = keyRing.hmac('values', keyId)?.update(shared).update(values).digest('base64url')
    const hash = [FORM, keyId, digest?.slice(0, DIGEST_LENGTH)].join('.')
    hashes.set(values, hash)
    return hash
  })
}

/** The id of the key that made a hash, for a comparison after the keys were rotated. */
export const keyOfHash = (hash: string): string => hash.split('.')[1] ?? ''
