export const PENDING_STATES = ['pending', 'processing', 'dispatched', 'cancelled', 'failed'] as const

/** Status of a pending request. */
export type PendingState = (typeof PENDING_STATES)[number]

/** Every transition between statuses. From `processing` back to `pending` goes a request that could not be dispatched. */
const PENDING_TRANSITIONS: Readonly<Record<PendingState, readonly PendingState[]>> = {
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

/** What can keep a request from starting, in the order in which it is shown. */
export const BLOCKER_CODES = [
  'freeze',
  'instance_pool',
  'no_compatible_instance',
  'tenant_limit',
  'target_lock',
  'capacity',
] as const
