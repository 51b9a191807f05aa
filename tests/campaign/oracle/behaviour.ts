import type { Call, Injected } from '../ledger.ts'
import { CLIENT_LINKS } from '../topology.ts'
import { type Check, Findings } from './evidence.ts'

/** The documented bound, plus a tolerance for a busy machine. */
const ANSWER_MS = 10_000 + 2_500

/** The documented error codes whose cause is not the client. */
const CODES_OF_FAULTS = new Set([
  'DATABASE_ERROR',
  'DATABASE_CONNECTION_ERROR',
  'EXTERNAL_SERVICE_ERROR',
  'SERVICE_UNAVAILABLE',
])
const EXPECTED: Record<string, readonly number[]> = {
  create: [201, 202],
  redeploy: [201, 202],
  cancel: [200, 409],
  'cancel pending': [200, 409],
  token: [200],
  'frozen create': [409],
  'foreign read': [200, 404],
}

/** A gateway that is stopped, starts, or cannot be reached sends no answers. */
function isExcused(call: Call, faults: readonly Injected[]): boolean {
  const gateway = call.gateway === 0 ? 'gateway' : 'gateway-2'
  const places = [gateway, CLIENT_LINKS[call.gateway] as string]
  return faults.some(({ family, kind, target, at, healedAt }) => {
    // A client that keeps connections may use a dead one long after the fault.
    const isLasting = kind === 'half-open' || kind === 'silent, then lost'
    return (
      family !== 'clients' && places.includes(target) && at <= call.answeredAt && (isLasting || healedAt >= call.sentAt)
    )
  })
}

const answersAreDocumented: Check = ({ ledger }) => {
  const findings = new Findings()
  for (const call of ledger.calls) {
    const { status, purpose, code } = call
    if (status === null) continue
    const isDocumented = EXPECTED[purpose]?.includes(status) !== false || CODES_OF_FAULTS.has(code ?? '')
    findings.unless(isDocumented, 'I28', 'each answer during a fault is a documented one', [call.requestId], call)
  }
  return findings.all
}

const answersComeInTime: Check = ({ ledger, patience }) => {
  const findings = new Findings()
  for (const call of ledger.calls) {
    const took = call.answeredAt - call.sentAt
    if (took <= ANSWER_MS * patience || isExcused(call, ledger.faults)) continue
    findings.add('I28', 'each call has an answer within 10 s', [call.requestId], { took, ...call })
  }
  return findings.all
}

export const behaviour: Check[] = [answersAreDocumented, answersComeInTime]
