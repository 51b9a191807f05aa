export { SUMMARY, SUMMARY_AS_STARTED, withProgress } from './deployments.ts'
export { type FreezeRow, type FreezesNow, freezeItem, notEndedAt, readFreezes } from './freezes.ts'
export {
  AWAITS_LAST_OUTPUT,
  INSTANCE,
  INSTANCE_STATUS,
  LOST_AFTER,
  LOST_AFTER_SECONDS,
  STILL_HELD,
  servesTenant,
  TAKES_LAST_OUTPUT,
  takesRuns,
} from './instances.ts'
export { isoTime, jsonObject, milliseconds } from './json.ts'
export { listItem, listItems } from './list-item.ts'
export { openPlanValues, sealPlan } from './plan-secrets.ts'
export { stepError } from './steps.ts'
export {
  REACHED_FOR,
  type ShownConnection,
  type TargetRow,
  targetItems,
  targetStatus,
} from './targets.ts'
export {
  type Looking,
  openVariables,
  type StoredVariables,
  sealVariables,
  shownVariables,
  type VariableOwner,
  variablesIdentity,
} from './variables.ts'
export { pendingItems } from './waiting.ts'
