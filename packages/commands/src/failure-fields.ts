import type { CommandFailure, CommandFailureReason } from '@slipway/domain'

/** The reason of a failure as the protocols carry it: what is null is left out. */
export function failureFields(failure: CommandFailure | null): { reason?: CommandFailureReason; subject?: string } {
  const { reason = null, subject = null } = failure ?? {}
  return { ...(reason !== null && { reason }), ...(subject !== null && { subject }) }
}
