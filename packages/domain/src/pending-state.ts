export const PENDING_STATES = ['pending', 'processing', 'dispatched', 'cancelled', 'failed'] as const

/** Status of a request that waits for an instance. */
export type PendingState = (typeof PENDING_STATES)[number]

/** Every change of status that exists. `processing` to `pending` is a dispatch that could not be done after all. */
export const PENDING_TRANSITIONS: Readonly<Record<PendingState, readonly PendingState[]>> = {
  pending: ['processing', 'cancelled'],
  processing: ['pending', 'dispatched', 'failed', 'cancelled'],
  dispatched: [],
  cancelled: [],
  failed: [],
}

export function isFinalPendingState(state: PendingState): boolean {
  return PENDING_TRANSITIONS[state].length === 0
}

export function canPendingTransition(from: PendingState, to: PendingState): boolean {
  return PENDING_TRANSITIONS[from].includes(to)
}

/** Statuses from which `to` may be entered, for guarded updates. */
export function pendingSourcesOf(to: PendingState): PendingState[] {
  return PENDING_STATES.filter((from) => canPendingTransition(from, to))
}
