import { type Check, Findings } from './evidence.ts'

const freezesHold: Check = ({ ledger }) => {
  const findings = new Findings()
  for (const call of ledger.calls) {
    if (call.purpose !== 'frozen create') continue
    const isStarted = call.status !== null && call.status < 300
    findings.unless(!isStarted, 'I23', 'during a freeze nothing that it covers is created', [call.requestId], call)
  }
  return findings.all
}

/** The outsider has no deployment and no request, so every id in an answer belongs to another tenant. */
const tenantsAreApart: Check = ({ ledger }) => {
  const findings = new Findings()
  for (const call of ledger.calls) {
    if (call.purpose !== 'foreign read') continue
    findings.unless(call.id === null, 'I27', 'no answer holds data of another tenant', [call.requestId], call)
  }
  return findings.all
}

export const outsiders: Check[] = [freezesHold, tenantsAreApart]
