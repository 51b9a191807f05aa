/** Why a token is refused. The audit log names it; the answer to the caller never does. */
export type RefusalReason =
  | 'unknown_account'
  | 'not_a_service_account'
  | 'account_not_active'
  | 'malformed_token'
  | 'algorithm_not_allowed'
  | 'untrusted_issuer'
  | 'issuer_unavailable'
  | 'unknown_key'
  | 'unusable_key'
  | 'wrong_signature'
  | 'missing_claim'
  | 'wrong_claim'
  | 'expired'
  | 'lifetime_too_long'
  | 'no_trust_matches'
  | 'used_before'

/** A token that is not accepted. Neither message nor details hold the token or the value of a claim. */
export class TokenRefused extends Error {
  override name = 'TokenRefused'
  readonly reason: RefusalReason
  readonly details: Record<string, unknown>

  constructor(reason: RefusalReason, details: Record<string, unknown> = {}) {
    super(`a token is refused: ${reason}`)
    this.reason = reason
    this.details = details
  }
}
