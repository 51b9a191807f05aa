export { readComparedPlans } from './compared-plans.ts'
export { SUMMARY, SUMMARY_AS_STARTED, withProgress } from './deployments.ts'
export { type FreezeRow, freezeItem } from './freezes.ts'
export { shownSelector } from './instance-selector.ts'
export { AWAITS_LAST_OUTPUT, INSTANCE, INSTANCE_STATUS, TAKES_LAST_OUTPUT } from './instances.ts'
export { isoTime, jsonObject, milliseconds } from './json.ts'
export { type ItemContext, listItem, listItems } from './list-item.ts'
export { PENDING } from './pending.sql.ts'
export { pendingItems } from './pending.ts'
export { openPlanValues, sealPlan } from './plan-secrets.ts'
export { readPreviewedStart, type ShownStart } from './previewed-start.ts'
export { CHECK } from './releases.ts'
export { stepError } from './steps.ts'
export { REACHED_FOR, STATUS_OF_TARGET, targetStatus } from './targets.sql.ts'
export { type ShownConnection, type TargetRow, targetItems } from './targets.ts'
export { openVariables, type StoredVariables, sealVariables, shownVariables, type VariableOwner } from './variables.ts'
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
