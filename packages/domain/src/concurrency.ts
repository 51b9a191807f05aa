/**
 * What happens to a deployment whose target another deployment works on: both run, it waits, it is refused, or it waits and
 * replaces an older request of the same source that still waits.
 */
export const CONCURRENCY_POLICIES = ['allow', 'queue', 'reject', 'supersede'] as const

export type ConcurrencyPolicy = (typeof CONCURRENCY_POLICIES)[number]
