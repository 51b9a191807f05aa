import { CONCURRENCY_POLICIES, DEPLOYMENT_STATES, PENDING_STATES, RELEASE_STATES, STEP_STATES } from '@slipway/domain'
import { oneOf } from './types.ts'

// The enums of the schema. A test compares their values with those of Postgres.
export const deploymentState = oneOf('deployment_state', DEPLOYMENT_STATES)
export const pendingStatus = oneOf('pending_status', PENDING_STATES)
export const releaseState = oneOf('release_state', RELEASE_STATES)
export const targetConcurrency = oneOf('target_concurrency', CONCURRENCY_POLICIES)
export const sourceKind = oneOf('source_kind', ['action', 'sequence', 'solution'])
export const stepState = oneOf('step_state', STEP_STATES)
