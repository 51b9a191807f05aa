// The audit log: one record for each call, the chain of hashes over the records, its verification and retention.

export { type CallRecord, recordCall, recordCalls, unlessRefused, wasCarriedOut } from './carried-out.ts'
export { auditCount, type ChainHead, chainHead } from './chain.ts'
export { countOldAudit, dropOldAudit } from './drop.ts'
export { hasNewRecords, linkAudit } from './link.ts'
export { type AuditEntry, recordAudit } from './record.ts'
export { type AuditPartVerdict, type AuditVerdict, verifyAudit, verifyAuditPart } from './verify.ts'
