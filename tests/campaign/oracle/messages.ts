import { type Check, FINAL_STATES, Findings, groupBy } from './evidence.ts'

const nothingIsUnsent: Check = ({ tables }) => {
  const findings = new Findings()
  findings.unless(tables.outbox === 0, 'I17', 'at rest the outbox is empty', [], { outbox: tables.outbox })
  findings.unless(tables.webhookEvents === 0, 'I17', 'at rest no event waits for webhooks', [], {
    events: tables.webhookEvents,
  })
  return findings.all
}

const queuesAreEmpty: Check = ({ queues }) => {
  const findings = new Findings()
  for (const [queue, messages] of Object.entries(queues)) {
    if (queue === 'dead-letters') continue
    findings.unless((messages ?? 0) === 0, 'I18', 'at rest the work queues are empty', [queue], queues)
  }
  return findings.all
}

/**
 * Some may be missing: a fault that loses messages may lose dead letters too. Some may be there twice: a consumer that dies before it
 * acknowledges the message leaves it to another one.
 */
const deadLettersAreGarbage: Check = ({ deadLetters, garbage }) => {
  const findings = new Findings()
  for (const content of deadLetters) {
    const sentence = 'dead letters are those that no consumer could handle'
    findings.unless(garbage.has(content), 'I18', sentence, [], Buffer.from(content, 'base64').toString())
  }
  return findings.all
}

/** A call may be repeated under the same id, for its answer may be lost. */
const eachEndIsToldOnce: Check = ({ tables, delivered }) => {
  const findings = new Findings()
  const told = groupBy(delivered, ({ deployment }) => deployment)
  for (const { id, state } of tables.deployments) {
    if (!FINAL_STATES.has(state)) continue
    const messages = new Set((told.get(id) ?? []).map((call) => call.id))
    findings.unless(messages.size === 1, 'I17', 'the end of a deployment is told in one message', [id], [...messages])
  }
  return findings.all
}

export const messages: Check[] = [eachEndIsToldOnce, nothingIsUnsent, queuesAreEmpty, deadLettersAreGarbage]
