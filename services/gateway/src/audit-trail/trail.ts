import { type AuditEntry, recordAudit } from '@slipway/audit'
import { auditResourceType, type Operation } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import type { Problem } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import type { CallingUser } from '../callers/calling-user.ts'
import { DatabaseBusy } from '../problems/problem-of.ts'
import type { RefusalLog } from './refusals.ts'

/** What a call is about. */
export interface Subject {
  resource_id: string | null
  tenant_id: string | null
}

/** What a handler knows of its change that the call does not say. */
export interface Change extends Subject {
  details?: Record<string, unknown>
  /** Who acted, where no caller is authenticated yet: a login. */
  actor?: { id: string | null; name: string | null }
}

/** A call of the same operation by the same user, which sent a command. */
export interface EarlierCall {
  command_id: string
  request_id: string | null
  client_ip: string | null
}

/**
 * Leaves exactly one audit record for a call of an operation that has an `audit` action. The record's id is the call's
 * own, so that of all who may write it (the change, the service that carries a command out, a refusal) only the first does.
 */
export interface AuditTrail {
  /** Writes the record in the transaction of the change, so that neither is without the other. */
  record(tx: Queryable, change: Change): Promise<void>
  /** Says that the service which carries out this command writes the record, under the command's id. */
  leaveToCommand(commandId: string): void
  /** Says what the call is about, for the record of its refusal, where the path does not say. */
  about(subject: Subject & Pick<Change, 'details'>): void
  /** Says that this call changes nothing, done or refused, and so leaves no record. */
  changesNothing(): void
  /** Writes a record of the refusal, unless the call has left one. */
  refused(problem: Problem): Promise<void>
  /**
   * Writes the record of the refusal, so that the command cannot take effect any more. False when it has. The command is
   * that of this call, or of an earlier one: then the record is of that call, and this call still owes its own.
   */
  forbid(problem: Problem, earlier?: EarlierCall): Promise<boolean>
  /** Whether the call still owes its record. */
  readonly owed: boolean
}

export interface AuditedCall {
  operation: Operation
  refusals: RefusalLog
  caller: CallingUser | null
  clientIp: string
  requestId: string
  params: Record<string, string>
}

/** Ids in paths may be any text; only what looks like an id is kept. */
const ID_LIKE = /^[A-Za-z0-9._=-]{1,128}$/
const TOO_MANY_REQUESTS = 429

export function createAuditTrail(call: AuditedCall): AuditTrail {
  const action = call.operation.audit
  let owed = action !== undefined
  let silent = action === undefined
  let id = uuidv7()
  const pathId = call.params['id'] ?? ''
  let subject: Subject & Pick<Change, 'details'> = {
    resource_id: ID_LIKE.test(pathId) ? pathId : null,
    tenant_id: call.caller?.tenant_id ?? null,
  }

  const entry = ({ actor, details, ...change }: Change): AuditEntry => ({
    id,
    actor_id: actor === undefined ? (call.caller?.user_id ?? null) : actor.id,
    actor_name: actor === undefined ? (call.caller?.username ?? null) : actor.name,
    actor_ip: call.clientIp,
    action: action ?? '',
    resource_type: auditResourceType(action ?? ''),
    request_id: call.requestId,
    ...change,
    details: details ?? {},
  })
  const refusal = ({ status, code }: Problem): AuditEntry =>
    entry({ ...subject, details: { ...subject.details, outcome: status < 500 ? 'refused' : 'failed', status, code } })

  return {
    get owed() {
      return owed
    },
    async record(tx, change) {
      if (action === undefined) throw new Error('this operation has no audit action: name one in the contracts')
      if ((await recordAudit(tx, [entry(change)])) === 0) throw new Error('a call leaves one audit record')
      owed = false
    },
    leaveToCommand(commandId) {
      id = commandId
      owed = false
    },
    about(known) {
      subject = known
    },
    changesNothing() {
      silent = true
      owed = false
    },
    async refused(problem) {
      // Whoever calls too often is answered before anybody looks at what was called.
      if (silent || problem.status === TOO_MANY_REQUESTS) return
      // Whoever has waited for the database once must not wait again: the record follows, or goes to the log.
      if (problem instanceof DatabaseBusy) void call.refusals.write(refusal(problem))
      else if (problem.code === 'DATABASE_CONNECTION_ERROR') call.refusals.note(refusal(problem))
      else await call.refusals.write(refusal(problem))
    },
    async forbid(problem, earlier) {
      const its = earlier && { id: earlier.command_id, request_id: earlier.request_id, actor_ip: earlier.client_ip }
      return silent || (await call.refusals.claim({ ...refusal(problem), ...its }))
    },
  }
}
