// What several services read and show in the same way: list items, what a pending request waits for, stored variables, and which
// records a user sees.

export { countApprovable } from './approvable.ts'
export { readComparedPlans } from './compared-plans.ts'
export { SUMMARY, SUMMARY_AS_STARTED, stepError, withProgress } from './deployments.ts'
export { type FreezeRow, freezeItem } from './freezes.ts'
export { findInForce } from './in-force.sql.ts'
export { AWAITS_LAST_OUTPUT, INSTANCE, INSTANCE_STATUS, TAKES_LAST_OUTPUT } from './instances.ts'
export { isoTime, jsonObject, milliseconds } from './json.ts'
export { type ItemContext, listItem, listItems } from './list-item.ts'
export { PENDING } from './pending.sql.ts'
export { type PendingViewer, pendingItems } from './pending.ts'
export { readPreviewedStart, type ShownStart } from './previewed-start.ts'
export { type QueueNow, readQueueNow, type WaitingRequests } from './queue.ts'
export { CHECK } from './releases.ts'
export { LAST_SEEN_OF_TARGET, REACHED_FOR, STATUS_OF_TARGET, targetStatus } from './targets.sql.ts'
export { type ShownConnection, shownSelector, type TargetRow, targetItems } from './targets.ts'
export {
  openPlanValues,
  openVariables,
  type StoredVariables,
  sealPlan,
  sealVariables,
  shownVariables,
  type VariableOwner,
} from './variables.ts'
export {
  isVisible,
  own,
  ownSql,
  requireChangeable,
  requireOwn,
  type Viewer,
  visible,
  visibleSql,
  visibleTenants,
  visibleTenantsSql,
} from './visibility.ts'
