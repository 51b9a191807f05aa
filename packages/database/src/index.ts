export type { QueryResultRow } from 'pg'
export { type CarriedOut, recordCall, recordCalls, unlessRefused, wasCarriedOut } from './audit/carried-out.ts'
export { auditCount, type ChainHead, chainHead } from './audit/chain.ts'
export { countOldAudit, dropOldAudit } from './audit/drop.ts'
export { linkAudit } from './audit/link.ts'
export { type AuditEntry, recordAudit } from './audit/record.ts'
export { type AuditFinding, type AuditVerdict, verifyAudit } from './audit/verify.ts'
export { contentBytes, DamagedContent, type StoredContent } from './content.ts'
export { attempt, createDatabase, type Database, type DatabaseOptions, type Queryable } from './database.ts'
export { isPast, type ReceivedCommand } from './deadline.ts'
export { isBusy, isConnectionError, isForeignKeyViolation, isUniqueViolation, sqlState } from './failures.ts'
export type { Prisma, PrismaClient } from './generated/client.ts'
export { SUMMARY, SUMMARY_AS_STARTED, withProgress } from './items/deployments.ts'
export { type FreezeRow, type FreezesNow, freezeItem, notEndedAt, readFreezes } from './items/freezes.ts'
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
} from './items/instances.ts'
export { isoTime, jsonObject, milliseconds } from './items/json.ts'
export { type ItemKind, listItem, listItems } from './items/list-item.ts'
export {
  REACHED_FOR,
  type ShownConnection,
  type TargetRow,
  targetItems,
  targetStatus,
} from './items/targets.ts'
export {
  type Looking,
  openVariables,
  type StoredVariables,
  sealVariables,
  shownVariables,
  type VariableOwner,
  variablesIdentity,
} from './items/variables.ts'
export { pendingItems } from './items/waiting.ts'
export { type ResealProgress, resealAll } from './keys/reseal.ts'
export { LOCK_KEYS, LOCK_KEYS_BY_VALUE } from './lock-keys.ts'
export { measureConnections, measureOutbox } from './metrics.ts'
export {
  type CausedMessage,
  commandMessage,
  enqueue,
  eventMessage,
  type OutboxMessage,
  type RelayOptions,
  startRelay,
} from './outbox.ts'
export { countRowFailure, Quarantine } from './quarantine.ts'
export { createRoles } from './roles/create.ts'
export { applyGrants, unlistedRights } from './roles/grants.ts'
export { DATABASE_ROLES, type DatabaseRole, TABLE_RIGHTS } from './roles/rights.ts'
export { warnOfOwner } from './roles/warn-of-owner.ts'
export { ALL_TENANTS, forAllTenants, forTenant, tenantOption } from './tenant.ts'
export { answerTogether } from './together.ts'
export { uuidArray } from './uuid-array.ts'
export { waitForDatabase } from './wait-for-database.ts'
export { happeningOf } from './webhooks/happening.ts'
export { type KeptEvent, LISTENS } from './webhooks/keep.ts'
