import type { Operation } from '@slipway/contracts'
import { type AuditEntry, type Database, type Queryable, recordAudit } from '@slipway/database'
import type { Problem } from '@slipway/domain'
import type { CallingUser } from '../identity/calling-user.ts'

/** What a handler knows of its change that the call does not say. */
export interface Change {
  resource_id: string | null
  tenant_id: string | null
  details?: Record<string, unknown>
  /** Who acted, where no caller is authenticated yet: a login. */
  actor?: { id: string | null; name: string | null }
}

/** Leaves exactly one audit record for a call of an operation that has an `audit` action. */
export interface AuditTrail {
  /** Writes the record in the transaction of the change, so that neither is without the other. */
  record(tx: Pick<Queryable, 'query'>, change: Change): Promise<void>
  /** Says that the service which carries out the command writes the record. */
  leaveToCommand(): void
  /** Writes a record of the refusal, unless the call has left one. */
  refused(problem: Problem): Promise<void>
  /** Whether the call still owes its record. */
  readonly owed: boolean
}

export interface AuditedCall {
  operation: Operation
  database: Database
  caller: CallingUser | null
  clientIp: string
  requestId: string
  params: Record<string, string>
}

export function createAuditTrail(call: AuditedCall): AuditTrail {
  const action = call.operation.audit
  let owed = action !== undefined
  let recorded = false

  const entry = ({ actor, details, ...change }: Change): AuditEntry => ({
    actor_id: actor === undefined ? (call.caller?.user_id ?? null) : actor.id,
    actor_name: actor === undefined ? (call.caller?.username ?? null) : actor.name,
    actor_ip: call.clientIp,
    action: action ?? '',
    resource_type: action?.split('.')[0] ?? '',
    request_id: call.requestId,
    ...change,
    details: details ?? {},
  })

  return {
    get owed() {
      return owed
    },
    async record(tx, change) {
      if (action === undefined) throw new Error('this operation has no audit action: name one in the contracts')
      await recordAudit(tx, [entry(change)])
      owed = false
      recorded = true
    },
    leaveToCommand() {
      owed = false
    },
    async refused(problem) {
      if (action === undefined || recorded) return
      const details = { outcome: 'refused', status: problem.status, code: problem.code }
      const resource_id = call.params['id'] ?? null
      await recordAudit(call.database, [entry({ resource_id, tenant_id: call.caller?.tenant_id ?? null, details })])
    },
  }
}
