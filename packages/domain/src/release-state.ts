/** The states of the part of a deployment on one target. `packages/engine` computes them. */
export const RELEASE_STATES = [
  'running',
  'applied',
  'failed',
  'cancelled',
  'rolling_back',
  'rolled_back',
  'rollback_failed',
] as const

export type ReleaseState = (typeof RELEASE_STATES)[number]

/** The state that lists show: where a check has found something else than what was applied, the release has drifted. */
export const SHOWN_RELEASE_STATES = [...RELEASE_STATES, 'drifted'] as const

/** What a check of a target found: exit code 0, exit code 1, or anything else. */
export const CHECK_RESULTS = ['in_sync', 'drifted', 'unknown'] as const
