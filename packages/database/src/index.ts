// Access to Postgres for all services: transactions, checked statements, the outbox, locks, the rights of each role, and the
// snapshot on which the dispatcher decides. `audit` and `read-models` have exports of their own.

export type { QueryResultRow } from 'pg'
export { bindings, bindingsSql } from './access/subjects.sql.ts'
export { type Actor, type PresentSubject, readSubjects } from './access/subjects.ts'
export { contentBytes, type StoredContent } from './content.ts'
export {
  attempt,
  createDatabase,
  type Database,
  type DatabaseOptions,
  type OpenDatabase,
  type Transaction,
} from './database.ts'
export { isPast, type ReceivedCommand, receivedCommand } from './deadline.ts'
export {
  Collision,
  isBusy,
  isCollision,
  isConnectionError,
  isForeignKeyViolation,
  isLocked,
  isRowForbidden,
  isUnavailable,
  isUniqueViolation,
  isUnwritable,
  sqlState,
} from './failures.ts'
export type { Prisma, PrismaClient } from './generated/client.ts'
export type { TargetConcurrency } from './generated/enums.ts'
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
export type { Records } from './records.ts'
export { rehearse } from './rehearse.ts'
export { createRoles } from './roles/create.ts'
export { applyGrants, openToPublic, unlistedRights } from './roles/grants.ts'
export { DATABASE_ROLES, type DatabaseRole, TABLE_RIGHTS } from './roles/rights.ts'
export { warnOfOwner, warnWithoutRowLevelSecurity } from './roles/warn-of-owner.ts'
export { resealAll } from './sealing/reseal.ts'
export {
  groupKey,
  holds,
  LOST_AFTER,
  LOST_AFTER_SECONDS,
  POLICY,
  placesOf,
  rankOf,
  STILL_HELD,
  takesRuns,
  WITH_POLICY,
} from './snapshot/fragments.ts'
export { type FreezesNow, notEndedAt, readFreezes } from './snapshot/freezes.ts'
export { EACH_REQUESTED, isAnyPolicy } from './snapshot/queue.sql.ts'
export { readGroups, type WaitingGroup } from './snapshot/read-groups.ts'
export {
  freezeSubject,
  MOST_STEPS,
  type NewRequest,
  placesMatter,
  type ReadRound,
  readInstances,
  readRound,
} from './snapshot/read-round.ts'
export { readShown } from './snapshot/read-shown.ts'
export { findPromotions, PARKED } from './snapshot/rules.sql.ts'
export { ANY_ORPHAN, CHECK_INTERVAL, DUE_CHECKS, ORPHANS } from './snapshot/runs.sql.ts'
export type { Queryable } from './sql/statement.ts'
export {
  type Columns,
  columnNames,
  insertion,
  type RowOf,
  type RowSet,
  rowSet,
  Statement,
  statement,
  statements,
} from './sql/statement.ts'
export {
  array,
  bool,
  bytea,
  deploymentState,
  float8,
  int4,
  int8,
  json,
  jsonb,
  nullable,
  oneOf,
  pendingStatus,
  present,
  releaseState,
  type SqlType,
  sourceKind,
  stepState,
  targetConcurrency,
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
export { ALL_TENANTS, forAllTenants, forTenant, seeTenant } from './tenant.ts'
export { answerTogether } from './together.ts'
export { waitForDatabase } from './wait-for-database.ts'
export type { KeptEvent } from './webhooks/keep.ts'
export { LISTENS } from './webhooks/keep.ts'
export { webhookEventOf } from './webhooks/webhook-event.ts'
