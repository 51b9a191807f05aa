import type { OperationId } from './types.ts'

/** Whether an answer without an error can be Slipway's. Other servers answer with JSON, too. */
export function isSlipwayAnswer(operation: OperationId, headers: Headers, body: unknown): boolean {
  if (!headers.has('x-request-id')) return false
  if (body === undefined) return !(operation in PROMISED)
  if (typeof body !== 'object' || body === null) return false
  const promised = PROMISED[operation]
  return promised === undefined || promised.some((field) => field in body)
}

/**
 * What the answer of an operation has at least one of. Without this check a login at another server stores an empty session.
 * Not every field of the OpenAPI document: an older server lacks the newer ones.
 */
const PROMISED: { [O in OperationId]?: readonly string[] } = {
  getCurrentUser: ['username', 'email'],
  login: ['access_token', 'requires_2fa'],
  refreshLogin: ['access_token'],
  verifyTwoFactor: ['access_token'],
}
