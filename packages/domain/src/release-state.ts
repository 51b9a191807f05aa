/** The states of the part of a deployment on one target. Triggers on `steps` and `deployments` compute them. */
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
