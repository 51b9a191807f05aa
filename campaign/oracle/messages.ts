import { type Check, Findings } from './evidence.ts'

const nothingIsUnsent: Check = ({ tables }) => {
  const findings = new Findings()
  findings.unless(tables.outbox === 0, 'I17', 'at rest the outbox is empty', [], { outbox: tables.outbox })
  findings.unless(tables.webhookEvents === 0, 'I17', 'at rest no event waits for webhooks', [], {
    events: tables.webhookEvents,
  })
  return findings.all
}

const queuesAreEmpty: Check = ({ queues, garbage }) => {
  const findings = new Findings()
  for (const [queue, messages] of Object.entries(queues)) {
    if (queue === 'dead-letters') {
      // Whoever loses messages loses dead letters too.
      findings.unless(
        (messages ?? 0) <= garbage,
        'I18',
        'dead letters are those that no consumer could handle',
        [],
        queues,
      )
    } else findings.unless((messages ?? 0) === 0, 'I18', 'at rest the work queues are empty', [queue], queues)
  }
  return findings.all
}

export const messages: Check[] = [nothingIsUnsent, queuesAreEmpty]
