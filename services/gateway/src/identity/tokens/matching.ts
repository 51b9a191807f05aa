import type { CreateTrust, Static } from '@slipway/contracts'

/** What a trust demands of a token. */
export type TrustRules = Pick<Static<typeof CreateTrust>, 'issuer' | 'audience' | 'claims'>

/** Claims of a token, as its issuer wrote them. */
export type Claims = Readonly<Record<string, unknown>>

/** Claims that every trust names anyway, so they do not count as claims of its own. */
const NAMED_ANYWAY = ['iss', 'aud']
const WILDCARD = '*'

/**
 * Returns the name of the first claim of a token that does not match a trust; null: all match. Only texts match, and only claims
 * of the token itself: `__proto__` is a claim like any other.
 */
export function findMismatch(claims: Claims, trust: TrustRules): string | null {
  if (claimOf(claims, 'iss') !== trust.issuer) return 'iss'
  if (!isAudience(claimOf(claims, 'aud'), trust.audience)) return 'aud'
  const wrong = Object.entries(trust.claims).find(([name, expected]) => !matches(claimOf(claims, name), expected))
  return wrong === undefined ? null : wrong[0]
}

const claimOf = (claims: Claims, name: string): unknown => (Object.hasOwn(claims, name) ? claims[name] : undefined)

const isAudience = (value: unknown, audience: string) =>
  value === audience || (Array.isArray(value) && value.includes(audience))

function matches(value: unknown, expected: string): boolean {
  if (typeof value !== 'string') return false
  return expected.endsWith(WILDCARD) ? value.startsWith(expected.slice(0, -WILDCARD.length)) : value === expected
}

/**
 * Whether these claims choose among the tokens of an issuer. A trust that does not would take every token of a platform with
 * this audience, and pipelines of strangers choose their audience.
 */
export const choosesTokens = (claims: TrustRules['claims']): boolean =>
  Object.entries(claims).some(([name, expected]) => !NAMED_ANYWAY.includes(name) && expected !== WILDCARD)
