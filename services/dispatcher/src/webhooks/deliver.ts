import { countRowFailure, type Database } from '@slipway/database'
import {
  createTicker,
  type DestinationRules,
  type KeyRing,
  type Logger,
  sleep,
  systemLookup,
  type Ticker,
} from '@slipway/runtime'
import { attempt } from './attempt.ts'
import { type Claimed, claimDue } from './claim.ts'
import { finish } from './finish.ts'
import { TenantLookups } from './lookups.ts'
import { attempts as countedAttempts } from './metrics.ts'

/** The most attempts at a time. They mostly wait for receivers. A single tenant gets half of them, see `claimDeliveries`. */
const MAX_IN_FLIGHT = 256
/** How long a stop waits for attempts in progress. Longer ones are repeated by another dispatcher. */
const STOP_MS = 8_000

interface DeliveryOptions {
  database: Database
  keys: KeyRing
  destinations: DestinationRules
  logger: Logger
  /** How often to look without a kick. */
  intervalMs: number
}

/** Delivers all deliveries that are due, until it is stopped. Several dispatchers may do so. */
export function startDeliveries(options: DeliveryOptions): Ticker {
  const { database, logger, keys, destinations } = options
  const lookups = new TenantLookups(destinations.resolve ?? systemLookup)
  const inFlight = new Set<Promise<void>>()

  async function deliver(claimed: Claimed): Promise<void> {
    const resolve = lookups.of(claimed.tenant_id)
    const outcome = await attempt(claimed, { keys, destinations: { ...destinations, resolve } })
    const finished = await finish(database, claimed, outcome)
    countedAttempts.inc({ outcome: finished })
    const { id, webhook_id, event, attempts } = claimed
    const facts = { delivery_id: id, webhook_id, event, attempts, status: outcome.response_status }
    if (finished === 'gone') logger.warn('a receiver answered 410: its webhook is disabled', facts)
    else if (finished === 'given_up') logger.warn('a delivery failed: it has no attempts left', facts)
    else logger.debug(`an attempt to deliver: ${finished}`, facts)
  }

  const ticker = createTicker({
    name: 'webhooks',
    intervalMs: options.intervalMs,
    logger,
    async run() {
      const free = MAX_IN_FLIGHT - inFlight.size
      for (const claimed of free > 0 ? await claimDue(database, free) : []) {
        // If the outcome cannot be stored, the claim expires and the attempt is repeated.
        const delivery = deliver(claimed)
          .catch((error) => {
            countRowFailure('webhooks')
            logger.error('the outcome of a delivery attempt could not be stored; the attempt is repeated', {
              delivery_id: claimed.id,
              error,
            })
          })
          .finally(() => {
            inFlight.delete(delivery)
            ticker.kick()
          })
        inFlight.add(delivery)
      }
    },
  })
  return {
    kick: () => ticker.kick(),
    async stop() {
      await ticker.stop()
      const over = new AbortController()
      await Promise.race([Promise.all(inFlight), sleep(STOP_MS, over.signal)])
      over.abort()
    },
  }
}
