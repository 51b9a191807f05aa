import type { JoinRequest } from '@slipway/contracts'
import { type AuditEntry, recordAudit } from '@slipway/database/audit'
import { isRefusal } from '@slipway/http'
import type { Bridge } from '../bridge.ts'
import type { Ticket } from './tickets.ts'

/** Where a join comes from. */
export interface JoinCaller {
  ip: string | null
  request_id: string | null
}

/** The unverified statements of the caller. */
type Claim = Partial<Pick<JoinRequest, 'name' | 'version'>>
type Details = Record<string, unknown>

export function joinRecord(
  ticket: Ticket | undefined,
  { name, version }: Claim,
  { ip, request_id }: JoinCaller,
  instanceId: string | null,
  details: Details,
): AuditEntry {
  return {
    actor_id: null,
    actor_name: actorOf(ticket),
    actor_ip: ip,
    action: 'instance.join',
    resource_type: 'instance',
    resource_id: instanceId,
    tenant_id: null,
    request_id,
    details: { name, version, ...ticket, ...details },
  }
}

/** The body of a refused join may be anything, so long texts are cut. */
function claimOf(body: unknown): Claim {
  const { name, version } = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  return { ...(isShort(name) ? { name } : {}), ...(isShort(version) ? { version } : {}) }
}

const isShort = (text: unknown): text is string => typeof text === 'string' && text.length <= 255

function actorOf(ticket: Ticket | undefined): string | null {
  if (ticket === undefined) return null
  return ticket.kind === 'grant' ? `join token ${ticket.grant_id}` : `service account ${ticket.account}`
}

/** Strangers can call without limit. Beyond this number, the refusals of a minute are only in the log of the process. */
const RECORDS_PER_MINUTE = 60
const MINUTE_MS = 60_000

interface RefusedJoins {
  /** Writes an audit record of a refused join. A failure to write is logged: the caller gets its refusal anyway. */
  record(error: unknown, ticket: Ticket | undefined, body: unknown, caller: JoinCaller): Promise<void>
}

export function createRefusedJoins({ database, logger }: Pick<Bridge, 'database' | 'logger'>): RefusedJoins {
  let minute = 0
  let written = 0
  return {
    async record(error, ticket, body, caller) {
      if (!isRefusal(error) || error.status >= 500) return
      const now = Math.floor(Date.now() / MINUTE_MS)
      if (now !== minute) [minute, written] = [now, 0]
      written += 1
      if (written > RECORDS_PER_MINUTE) return
      const { status, code, message } = error
      const details = { outcome: 'refused', status, code, reason: message }
      try {
        await recordAudit(database, [joinRecord(ticket, claimOf(body), caller, null, details)])
      } catch (failure) {
        logger.error('the audit record of a refused join could not be written', { error: failure, ...details })
      }
    },
  }
}
