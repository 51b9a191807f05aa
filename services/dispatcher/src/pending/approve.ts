import type { CommandBody, CommandReply } from '@slipway/contracts'
import {
  type Database,
  enqueue,
  eventMessage,
  isPast,
  type Queryable,
  type ReceivedCommand,
  readShown,
  readSubjects,
} from '@slipway/database'
import { recordCall, unlessRefused, wasCarriedOut } from '@slipway/database/audit'
import { requireChangeable } from '@slipway/database/read-models'
import { conflict, insufficientPermissions, may, Problem, pendingSourcesOf } from '@slipway/domain'
import {
  type Approver,
  approvalProblem,
  approvalRules,
  blockersOf,
  endingOf,
  type RuledEnvironment,
  rejectionProblem,
  rulesFor,
  type StartRequest,
} from '@slipway/engine'
import { lockAdmission } from '../locks/admission.sql.ts'
import { addApproval, lockForApproval } from './approve.sql.ts'
import { reviewRequest } from './places.sql.ts'
import { endRequests } from './status.sql.ts'

type Approving = CommandBody<'pending.approve'>
type Rejecting = CommandBody<'pending.reject'>

/**
 * Gives an approval to a pending request. With the last one it goes on by itself. A second approval of the same user changes nothing.
 * Returns null without effect after the deadline or a refusal.
 * @throws Problem NOT_FOUND, INSUFFICIENT_PERMISSIONS, FORBIDDEN, CONFLICT
 */
export function approvePending(
  database: Database,
  command: Approving,
  received: ReceivedCommand,
): Promise<CommandReply<'pending.approve'> | null> {
  const { pending_request_id: id, caller, plan_hash, comment = null } = command
  return carryOut(database, { ...command, ...received, action: 'pending_request.approve' }, async (tx, asked) => {
    const { stored, request, rules, approver } = asked
    if (plan_hash !== undefined && plan_hash !== stored.plan_hash) {
      throw conflict('The plan of the request is another one than that of plan_hash: look at it again', {
        plan_hash: stored.plan_hash,
      })
    }
    if (request.terms.approvals.some(({ user_id }) => user_id === caller.user_id)) return false
    refuseIf(approvalProblem(rules, request, approver))
    const given = { user_id: caller.user_id, user_name: caller.username, comment }
    await addApproval.one(tx, { request_id: id, ...given })
    await reviewRequest.run(tx, { id })
    const own = { ...given, at: new Date(), subject: approver.subject }
    const approvals = [...request.terms.approvals, own]
    const left = approvalRules(rules, { ...request, terms: { ...request.terms, approvals } })
    const isLast = left.every(({ missing }) => missing === 0)
    const change = { pending_request_id: id, tenant_id: stored.tenant_id, status: 'pending' } as const
    await enqueue(tx, [
      eventMessage('pending.updated', change),
      ...(isLast ? [eventMessage('pending.approved', change)] : []),
    ])
    return true
  })
}

/**
 * Ends a request that needs approvals. Returns null without effect after the deadline or a refusal.
 * @throws Problem NOT_FOUND, INSUFFICIENT_PERMISSIONS, FORBIDDEN, CONFLICT
 */
export function rejectPending(
  database: Database,
  command: Rejecting,
  received: ReceivedCommand,
): Promise<CommandReply<'pending.reject'> | null> {
  const { pending_request_id: id, caller, comment } = command
  return carryOut(database, { ...command, ...received, action: 'pending_request.reject' }, async (tx, { stored }) => {
    const reason = comment === undefined ? '' : `: ${comment}`
    await endRequests.all(tx, {
      ids: [id],
      statuses: ['cancelled'],
      reasons: [`Rejected by ${caller.username}${reason}`],
      causes: ['rejected'],
      from: pendingSourcesOf('cancelled'),
    })
    const change = { pending_request_id: id, tenant_id: stored.tenant_id, status: 'cancelled' } as const
    await enqueue(tx, [eventMessage('pending.updated', change), eventMessage('pending.rejected', change)])
    return true
  })
}

type Call = Rejecting & ReceivedCommand & { action: 'pending_request.approve' | 'pending_request.reject' }

/** Carries out what an approver asks for, once. `act` tells whether it changed anything, and only then the audit log has it. */
function carryOut(
  database: Database,
  { pending_request_id: id, caller, comment, command_id, deadline, request_id, api_key, action }: Call,
  act: (tx: Queryable, asked: Asked) => Promise<boolean>,
): Promise<{ pending_request_id: string } | null> {
  const reply = { pending_request_id: id }
  const carriedOut = database.transaction(async (tx) => {
    if (await isPast(tx, deadline)) return null
    if (await wasCarriedOut(tx, command_id)) return reply
    const asked = await readAsked(tx, id, caller)
    refuseIf(rejectionProblem(asked.rules, asked.request, asked.approver))
    if (!(await act(tx, asked))) return reply
    const { tenant_id, plan_hash } = asked.stored
    const details = { plan_hash, ...(comment === undefined ? {} : { comment }) }
    await recordCall(tx, { command_id, action, caller, api_key, request_id, resource_id: id, tenant_id, details })
    return reply
  })
  return unlessRefused(carriedOut)
}

interface Asked {
  stored: { tenant_id: string | null; plan_hash: string | null }
  request: StartRequest
  rules: RuledEnvironment[]
  approver: Approver
}

/** Under the lock of admission, so that no round decides with the approvals of before. */
async function readAsked(tx: Queryable, id: string, caller: Approving['caller']): Promise<Asked> {
  await lockAdmission.run(tx, { command_ids: [] })
  const found = await lockForApproval.first(tx, { id })
  const stored = requireChangeable(caller, found, 'deployments:approve', 'The pending request')
  const { user_id, key_id = null } = caller
  // The rights of now: they may be fewer than when the gateway took the call.
  const [{ snapshot, requests }, [subject = null]] = await Promise.all([
    readShown(tx, { pending: [id], arrivals: [] }),
    readSubjects(tx, [{ user_id, key_id }]),
  ])
  const approver = { user_id, subject }
  const request = requests.find((each) => each.kind === 'start' && each.id === id)
  if (request?.kind !== 'start') {
    // Which rules counted is not known any more.
    if (subject === null || !may(subject, 'deployments:approve').allowed) refuseIf('rights')
    if (stored.author_id === user_id) refuseIf('author')
    throw conflict(`The request does not wait any more: its status is ${stored.status}`, { status: stored.status })
  }
  const rules = rulesFor(snapshot, request)
  const asked = { stored, request, rules, approver }
  // The next round ends it.
  const ending = endingOf(request, blockersOf(snapshot, request, snapshot.now), snapshot.now)
  if (ending === null) return asked
  const refused = rejectionProblem(rules, request, asked.approver)
  if (refused !== 'not_needed') refuseIf(refused)
  throw conflict(`The request does not wait any more: ${ending.message}`, { status: ending.status })
}

/** @throws Problem */
function refuseIf(problem: ReturnType<typeof approvalProblem>): void {
  switch (problem) {
    case null:
      return
    case 'rights':
      throw insufficientPermissions('deployments:approve, and a role that a rule of the request asks for')
    case 'author':
      throw new Problem(
        'FORBIDDEN',
        'You asked for this deployment: somebody else must approve or reject it. Cancel it instead',
      )
    case 'not_needed':
      throw conflict('The request needs no approval, or has all that it needs')
  }
}
