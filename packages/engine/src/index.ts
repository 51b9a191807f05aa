// Decides which deployments may start and why others wait, from a snapshot of the queue, and what is in force on a target.
// Without I/O.

export {
  admit,
  blockersIn,
  type Decision,
  type Dropped,
  type End,
  type Refuse,
  type Start,
  type Wait,
} from './admit.ts'
export { type GroupBefore, requestsAhead } from './ahead.ts'
export { hasScopedAuthor } from './author.ts'
export { type Blocker, type BlockerCode, blockersOf, groupBlockersOf, type HeldTarget, isParked } from './blockers.ts'
export type { Slot } from './bookings.ts'
export { endingOf } from './endings.ts'
export {
  type Asked,
  aboutToStart,
  type BlockerDetails,
  earliestStart,
  explain,
  type ShownApproval,
  type ShownBlocker,
  shownApproval,
  shownPool,
  shownRule,
  type Viewer,
} from './explain.ts'
export { type Part, type PartState, partState } from './part.ts'
export { instancesOf, type PoolUser, poolState, takesRuns } from './pools.ts'
export { type PreviewedStart, previewStart } from './preview.ts'
export { promotableOf } from './promotable.ts'
export { IN_FORCE, type Release, type ReleasedDeployment, releaseOf, releaseState } from './release.ts'
export {
  type Approver,
  approvalProblem,
  approvalRules,
  approvalsExpireAt,
  canApprove,
  countingApprovals,
  type PassedRules,
  promotionKey,
  readyAt,
  rejectionProblem,
  rulesFor,
} from './rules.ts'
export {
  type Approval,
  type Arrival,
  type CheckRequest,
  type Instance,
  isNew,
  type Labels,
  type OlderRequest,
  type PromotionState,
  type Request,
  type RequestedTarget,
  type Reservation,
  type RuledEnvironment,
  type Snapshot,
  type StartRequest,
  type TargetState,
  type Terms,
} from './snapshot.ts'
