import { SECRET } from '../workload/catalog.ts'
import { type Check, Findings } from './evidence.ts'

const FORMS = [SECRET, Buffer.from(SECRET).toString('base64').replace(/=+$/, '')]
const tells = (text: string | null) => text !== null && FORMS.some((form) => text.includes(form))

const secretsStayHidden: Check = ({ tables, ledger }) => {
  const findings = new Findings()
  const texts = [
    ...tables.lines.map(({ deployment_id, text }) => ({ id: deployment_id, place: 'a stored line', text })),
    ...tables.steps.map(({ deployment_id, error_message }) => ({
      id: deployment_id,
      place: 'a step',
      text: error_message,
    })),
    ...ledger.seen.map(({ deployment, text }) => ({ id: deployment, place: 'a stream', text })),
    ...ledger.calls.map(({ requestId, message }) => ({ id: requestId, place: 'an answer', text: message })),
  ]
  const told = texts.filter(({ text }) => tells(text))
  for (const { id, place, text } of told.slice(0, 20)) {
    findings.add('I26', 'a secret is shown nowhere', [id], { place, text })
  }
  return findings.all
}

export const secrets: Check[] = [secretsStayHidden]
