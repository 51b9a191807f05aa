export type { QueryResultRow } from 'pg'
export { contentBytes, type StoredContent } from './content.ts'
export { attempt, createDatabase, type Database, type DatabaseOptions, type Transaction } from './database.ts'
export { isPast, type ReceivedCommand, receivedCommand } from './deadline.ts'
export {
  Collision,
  isBusy,
  isCollision,
  isConnectionError,
  isForeignKeyViolation,
  isLocked,
  isUnavailable,
  isUniqueViolation,
  isUnwritable,
  sqlState,
} from './failures.ts'
export type { Prisma, PrismaClient } from './generated/client.ts'
export { resealAll } from './keys/reseal.ts'
export { LOCK_KEYS, LOCK_KEYS_BY_VALUE } from './lock-keys.ts'
export { measureConnections, measureOutbox } from './metrics.ts'
export {
  type CausedMessage,
  enqueue,
  eventMessage,
  type OutboxMessage,
  type RelayOptions,
  startRelay,
} from './outbox.ts'
export { countRowFailure, Quarantine } from './quarantine.ts'
export type { Queryable } from './queryable.ts'
export type { Records } from './records.ts'
export { createRoles } from './roles/create.ts'
export { applyGrants, openToPublic, unlistedRights } from './roles/grants.ts'
export { DATABASE_ROLES, type DatabaseRole, TABLE_RIGHTS } from './roles/rights.ts'
export { warnOfOwner } from './roles/warn-of-owner.ts'
export { notEndedAt } from './snapshot/freezes.sql.ts'
export { type FreezesNow, readFreezes } from './snapshot/freezes.ts'
export { groupKey, placesOf } from './snapshot/groups.ts'
export { LOST_AFTER, LOST_AFTER_SECONDS, STILL_HELD, takesRuns } from './snapshot/instances.ts'
export { holds, POLICY, WITH_POLICY } from './snapshot/policies.ts'
export { EACH_WANTED, isAnyPolicy } from './snapshot/queue.sql.ts'
export { rankOf } from './snapshot/rank.ts'
export { readGroups, type WaitingGroup } from './snapshot/read-groups.ts'
export {
  freezeSubject,
  MOST_STEPS,
  type NewRequest,
  type ReadRound,
  readInstances,
  readRound,
} from './snapshot/read-round.ts'
export { readShown } from './snapshot/read-shown.ts'
export { ANY_ORPHAN, CHECK_INTERVAL, DUE_CHECKS, ORPHANS } from './snapshot/runs.sql.ts'
export { deploymentState, pendingStatus, releaseState, sourceKind, stepState, targetConcurrency } from './sql/enums.ts'
export { type Columns, type RowOf, Statement, statement, statements } from './sql/statement.ts'
export {
  array,
  bool,
  bytea,
  float8,
  int4,
  int8,
  json,
  jsonb,
  nullable,
  oneOf,
  present,
  type SqlType,
  text,
  timestamptz,
  uuid,
} from './sql/types.ts'
export {
  deriveParts,
  type MovedStep,
  type StepClosing,
  type StepMove,
  type StepResult,
  type StepsChange,
  writeSteps,
} from './steps/write-steps.ts'
export { seeTenant } from './tenant.sql.ts'
export { ALL_TENANTS, forAllTenants, forTenant } from './tenant.ts'
export { answerTogether } from './together.ts'
export { waitForDatabase } from './wait-for-database.ts'
export { LISTENS } from './webhooks/keep.sql.ts'
export type { KeptEvent } from './webhooks/keep.ts'
export { webhookEventOf } from './webhooks/webhook-event.ts'
