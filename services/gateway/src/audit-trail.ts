import { auditResourceType, type CallingKey, type Operation } from '@slipway/contracts'
import { type Database, isBusy, type Queryable } from '@slipway/database'
import { type AuditEntry, recordAudit } from '@slipway/database/audit'
import type { Problem } from '@slipway/domain'
import { type Logger, uuidv7 } from '@slipway/runtime'
import type { CallingUser } from './callers/calling-user.ts'
import { DatabaseBusy } from './problems.ts'

/** The record that a call changes. */
export interface Subject {
  resource_id: string | null
  tenant_id: string | null
}

export interface Change extends Subject {
  details?: Record<string, unknown>
  /** For a login: the call has no authenticated caller yet. */
  actor?: { id: string | null; name: string | null }
}

/** An earlier call with the same Idempotency-Key. It sent a command. */
interface EarlierCall {
  command_id: string
  request_id: string | null
  client_ip: string | null
  /** Null: it was authenticated without an API key. */
  api_key: CallingKey | null
}

/**
 * Leaves exactly one audit record for a call of an operation with an `audit` action. The change, the service that handles a
 * command, and a refusal all use the same record id. The database accepts only the first of them.
 */
export interface AuditTrail {
  /** Writes the record in the transaction of the change. */
  record(tx: Queryable, change: Change): Promise<void>
  /** The service that handles this command writes the record, with the id of the command. */
  leaveToCommand(commandId: string): void
  /** Sets the subject for the record of a refusal, where the path does not name it. */
  about(subject: Subject & Pick<Change, 'details'>): void
  /** Writes the record of a preview that is given values. The call leaves no other record. */
  previewed(tx: Queryable, change: Change): Promise<void>
  /** The call changes nothing, so neither success nor refusal leaves a record. */
  changesNothing(): void
  /** Writes a record of the refusal, unless the call has one already. */
  refused(problem: Problem): Promise<void>
  /**
   * Writes the record of the refusal under the id of the command, so the command cannot take effect later. Returns false if it
   * has taken effect. With `earlier`, command and record are those of the earlier call.
   */
  forbid(problem: Problem, earlier?: EarlierCall): Promise<boolean>
  /** Whether the call has to leave a record and has not done so. */
  readonly isOwed: boolean
}

/** For a call that is only rehearsed. */
export const UNRECORDED: AuditTrail = {
  isOwed: false,
  async record() {},
  async previewed() {},
  leaveToCommand() {},
  about() {},
  changesNothing() {},
  async refused() {},
  forbid: async () => false,
}

interface AuditedCall {
  operation: Operation
  refusals: RefusalLog
  caller: CallingUser | null
  clientIp: string
  requestId: string
  params: Record<string, string>
}

/** A path may hold any text in the place of an id. The record keeps only what has the form of an id. */
const ID_LIKE = /^[A-Za-z0-9._=-]{1,128}$/
const TOO_MANY_REQUESTS = 429

export function createAuditTrail(call: AuditedCall): AuditTrail {
  const { audit: action, auditsNamedRefusals = false } = call.operation
  let isNamed = false
  let isOwed = action !== undefined
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
    api_key: call.caller?.api_key,
    action: action ?? '',
    resource_type: auditResourceType(action ?? ''),
    request_id: call.requestId,
    ...change,
    details: details ?? {},
  })
  const refusal = ({ status, code }: Problem): AuditEntry =>
    entry({ ...subject, details: { ...subject.details, outcome: status < 500 ? 'refused' : 'failed', status, code } })

  return {
    get isOwed() {
      return isOwed
    },
    async record(tx, change) {
      if (action === undefined) throw new Error('this operation has no audit action: name one in the contracts')
      if ((await recordAudit(tx, [entry(change)])) === 0) throw new Error('a call leaves one audit record')
      isOwed = false
    },
    async previewed(tx, change) {
      silent = true
      isOwed = false
      await recordAudit(tx, [{ ...entry(change), action: 'deployment.preview', resource_type: 'deployment' }])
    },
    leaveToCommand(commandId) {
      id = commandId
      isOwed = false
    },
    about(known) {
      subject = known
      isNamed = true
    },
    changesNothing() {
      silent = true
      isOwed = false
    },
    async refused(problem) {
      isOwed = false
      // Rate-limited calls leave no record: they would fill the audit log.
      if (silent || problem.status === TOO_MANY_REQUESTS) return
      if (auditsNamedRefusals && !isNamed) return
      // Not awaited: the call has already waited for the database as long as it may.
      if (problem instanceof DatabaseBusy) void call.refusals.write(refusal(problem))
      else if (problem.code === 'DATABASE_CONNECTION_ERROR') call.refusals.note(refusal(problem))
      else await call.refusals.write(refusal(problem))
    },
    async forbid(problem, earlier) {
      const its = earlier && {
        id: earlier.command_id,
        request_id: earlier.request_id,
        actor_ip: earlier.client_ip,
        api_key: earlier.api_key ?? undefined,
      }
      return silent || (await call.refusals.claim({ ...refusal(problem), ...its }))
    },
  }
}

/** Writes audit records of refused calls, outside of the transaction of the call, because that is rolled back. */
export interface RefusalLog {
  /** Stores the record, unless the call has one already. If Postgres fails, the record goes to the log of the process. */
  write(entry: AuditEntry): Promise<void>
  /** Writes the record to the log of the process, because the database cannot be reached. */
  note(entry: AuditEntry): void
  /** Stores the record in a statement of its own. Returns false if the call has a record already. */
  claim(entry: AuditEntry): Promise<boolean>
}

interface UnwrittenRefusal {
  entry: AuditEntry
  done(): void
}

/** The most records in one statement. */
const BATCH = 200
/** Calls are refused because the pool has no free connection. Then the record waits for one as well. */
const ATTEMPTS = 4

/** Refusals that wait share one statement: a flood of them must not take all connections of the pool. */
export function createRefusalLog(database: Pick<Database, 'query'>, logger: Logger): RefusalLog {
  const waiting: UnwrittenRefusal[] = []
  let writing = false

  const note = (error: unknown, audit: AuditEntry[]) =>
    logger.error('refusals could not be written to the audit log', { error, audit })

  async function store(entries: AuditEntry[]): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await recordAudit(database, entries)
        return
      } catch (error) {
        if (attempt < ATTEMPTS && isBusy(error)) continue
        return note(error, entries)
      }
    }
  }

  async function writeAll(): Promise<void> {
    writing = true
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH)
      await store(batch.map(({ entry }) => entry))
      for (const { done } of batch) done()
    }
    writing = false
  }

  return {
    write: (entry) =>
      new Promise((done) => {
        waiting.push({ entry, done })
        if (!writing) void writeAll()
      }),
    note: (entry) => note('the database cannot be reached', [entry]),
    claim: async (entry) => (await recordAudit(database, [entry])) === 1,
  }
}
