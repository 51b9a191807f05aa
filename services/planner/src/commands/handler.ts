import type { Broker, Delivery } from '@slipway/broker'
import type { Envelope } from '@slipway/contracts'
import type { Database } from '@slipway/database'
import { histogram, type KeyRing, type Logger, uuidv7 } from '@slipway/runtime'
import { outcomeOf } from '../planning/outcome.ts'
import type { PlanningResources } from '../planning/planning.ts'
import { createSensitiveNames } from '../records/sensitive-names.ts'

const plans = histogram('slipway_plan_duration_seconds', 'Time to make a plan, or to refuse it', ['command'])

interface HandlerOptions {
  database: Database
  broker: Pick<Broker, 'publish' | 'reply'>
  keyRing: KeyRing
  logger: Logger
}

/**
 * Handles the planner's command messages. A plan to start goes on to the dispatcher, which answers the gateway; the planner
 * answers previews and refusals. It writes nothing, so a repeated message has no effect.
 */
export function createCommandHandler({ database, broker, keyRing, logger }: HandlerOptions) {
  const resources: PlanningResources = { database, keyRing, sensitiveNames: createSensitiveNames() }

  return async (envelope: Envelope, delivery: Delivery): Promise<void> => {
    const began = performance.now()
    const { kind, json } = await outcomeOf(resources, envelope, logger)
    plans.observe({ command: envelope.type }, (performance.now() - began) / 1_000)
    if (kind === 'reply') return broker.reply(delivery.replyTo, delivery.correlationId, { json })
    await broker.publish([
      {
        exchange: 'commands',
        type: 'deployment.start',
        json,
        message_id: uuidv7(),
        request_id: envelope.request_id,
        ...(delivery.replyTo === undefined ? {} : { reply_to: delivery.replyTo }),
        ...(delivery.correlationId === undefined ? {} : { correlation_id: delivery.correlationId }),
        ...(envelope.deadline === undefined ? {} : { deadline: envelope.deadline }),
        api_key: envelope.api_key,
      },
    ])
  }
}
