import { canonicalJson, conflict, describePart, PLAN_PARTS, type Plan, type PlanPart, planParts } from '@slipway/domain'
import type { KeyRing } from '@slipway/runtime'

/** Change this when a part gets other contents. Otherwise a new release would report that every plan has changed. */
const FORM = 'p1'
/** Characters of base64url, 72 bits: enough against accidental collisions. */
const DIGEST_LENGTH = 12

interface PlanDifference {
  path: string
  message: string
  /** The present content of the part. */
  actual: string
}

/** The hash of a plan. It has a digest for each part, so that a later comparison can name the parts that differ. */
export function planHash(keyRing: KeyRing, plan: Plan): string {
  const keyId = keyRing.currentKeyId
  return [FORM, keyId, ...(digests(keyRing, keyId, plan) ?? [])].join('.')
}

/**
 * Does nothing without `expected`.
 * @throws Problem CONFLICT if the plan does not have the expected hash
 */
export function checkPlanHash(keyRing: KeyRing, plan: Plan, expected: string | undefined): void {
  if (expected === undefined) return
  const differences = differencesFrom(keyRing, plan, expected)
  if (differences.length === 0) return
  const paths = differences.map(({ path }) => path).join(', ')
  throw conflict(`The plan has changed since the expected hash was made. It differs in: ${paths}`, { differences })
}

function differencesFrom(keyRing: KeyRing, plan: Plan, expected: string): PlanDifference[] {
  const [form, keyId = '', ...expectedDigests] = expected.split('.')
  const actual = form === FORM ? digests(keyRing, keyId, plan) : null
  if (actual === null || actual.length !== expectedDigests.length) {
    const message = 'was hashed by another release or under a key that is no longer there: preview again'
    return [{ path: 'plan_hash', message, actual: planHash(keyRing, plan) }]
  }
  return PLAN_PARTS.flatMap((part, index) =>
    actual[index] === expectedDigests[index]
      ? []
      : [{ path: part, message: MESSAGES[part], actual: describePart(plan, part) }],
  )
}

/** In the order of the parts. Null if the key is not in the ring. */
function digests(keyRing: KeyRing, keyId: string, plan: Plan): string[] | null {
  const parts = planParts(plan)
  const made = PLAN_PARTS.map((part) => {
    const hmac = keyRing.hmac(`plan ${part}`, keyId)
    hmac?.update(linesOf(parts[part]))
    return hmac?.digest('base64url').slice(0, DIGEST_LENGTH)
  })
  return made.some((digest) => digest === undefined) ? null : (made as string[])
}

/** The JSON of each piece, each with a line end. */
const linesOf = (pieces: readonly unknown[]) => pieces.map((piece) => `${canonicalJson(piece)}\n`).join('')

const MESSAGES: Record<PlanPart, string> = {
  source: 'another source or version of it',
  scope: 'another tenant or environment',
  versions: 'other versions of what the source is made of',
  steps: 'other actions, in another order, or with another timeout or number of retries',
  targets: 'other targets, or in another order',
  'variables/definitions': 'other values in the definitions of the source',
  'variables/scope': 'other variables of the tenant or the environment',
  'variables/targets': 'other variables of the targets, or of their environments',
  'variables/request': 'other variables or prompted values in the request',
  options: 'other strategies, priority, timeouts or retries',
}
