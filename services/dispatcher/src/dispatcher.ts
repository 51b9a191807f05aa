import type { Broker } from '@slipway/broker'
import { type Database, Quarantine, startRelay } from '@slipway/database'
import { createTicker, type DestinationRules, type KeyRing, type Logger } from '@slipway/runtime'
import { createCommandHandler } from './commands/handler.ts'
import { foldCounts } from './deployments/counts.ts'
import { dispatchQueue } from './dispatch/dispatch-queue.ts'
import { watchDrift } from './drift/watch.ts'
import { createEventHandler } from './events/handler.ts'
import { applySettings, type QueueSettings } from './pending/settings.ts'
import { retain } from './retention/retain.ts'
import type { RetentionRules } from './retention/settings.ts'
import { createSweep } from './runs/sweep.ts'
import { startDeliveries } from './webhooks/deliver.ts'
import { recordEvents } from './webhooks/record.ts'
import { sweepDeliveries } from './webhooks/sweep.ts'
import { findWork } from './work.sql.ts'

/** Below the size of the pool, because dispatch, sweep and relay need connections too. */
const PREFETCH = 6
/** Above the number of connections: most commands are starts, and these share one. */
const COMMANDS_PREFETCH = 12
/** The delay after a lost wake-up, and of work that is due by time or that another service has stored. */
const TICK_MS = 1_000
/** How often each part runs although `findWork` finds nothing for it. */
const SLOW_TICK_MS = 30_000
/** Lists add the counts that are not folded yet, so there should be few. */
const FOLD_MS = 5_000
/** The longest delay before an expired delivery is marked as failed. */
const DELIVERY_SWEEP_MS = 60_000
/** Data that is kept for days may stay an hour longer. */
const RETENTION_MS = 3_600_000

export interface DispatcherOptions {
  database: Database
  broker: Broker
  keys: KeyRing
  /** The addresses that webhooks may use. */
  destinations: DestinationRules
  queue: QueueSettings
  /** Seconds between two checks of a release whose actions name no interval. Without it, or 0: only on request. */
  checkInterval?: number
  /** The rules for old data. Without them, retention does not run. */
  retention?: RetentionRules
  logger: Logger
  /** How often to look without a wake-up. */
  tickMs?: number
  /** Registers how a part is stopped. The last registered part must be stopped first. */
  onStop(part: string, stop: () => Promise<void>): void
}

/** Connects and starts the parts of the dispatcher. Any number of dispatchers may share the database and the queues. */
export async function startDispatcher(options: DispatcherOptions): Promise<void> {
  const { database, broker, queue, logger, tickMs = TICK_MS, onStop } = options
  const slowTickMs = Math.max(tickMs, SLOW_TICK_MS)
  let settled = false
  const relay = startRelay({
    database,
    publish: (messages) => broker.publish(messages),
    logger,
    onKept: () => recorder.kick(),
    intervalMs: slowTickMs,
  })
  const orphans = new Quarantine({ task: 'resume', logger })
  const dispatchTicker = createTicker({
    name: 'dispatch',
    intervalMs: slowTickMs,
    logger,
    run: async () => {
      if (!settled) await applySettings(database, queue)
      settled = true
      await dispatchQueue({ database, logger, orphans, onCommitted: () => relay.kick() })
    },
  })
  const onCommitted = () => {
    relay.kick()
    dispatchTicker.kick()
  }
  const sweep = createSweep({ database, logger })
  const sweeper = createTicker({
    name: 'sweep',
    intervalMs: slowTickMs,
    logger,
    run: async () => {
      if (await sweep()) onCommitted()
    },
  })
  const folder = createTicker({
    name: 'fold-counts',
    intervalMs: FOLD_MS,
    logger,
    run: () => foldCounts(database),
  })
  const deliveries = startDeliveries({ ...options, intervalMs: slowTickMs })
  const recorder = createTicker({
    name: 'webhook-events',
    intervalMs: slowTickMs,
    logger,
    run: async () => {
      while ((await recordEvents(options)) > 0) deliveries.kick()
    },
  })
  const deliverySweeper = createTicker({
    name: 'sweep-deliveries',
    intervalMs: DELIVERY_SWEEP_MS,
    logger,
    run: () => sweepDeliveries(database, logger),
  })
  const { retention: rules } = options
  const stopping = new AbortController()
  const retainer = createTicker({
    name: 'retention',
    intervalMs: RETENTION_MS,
    logger,
    run: () => rules && retain({ database, rules, logger, signal: stopping.signal }),
  })
  const driftWatch = createTicker({
    name: 'drift',
    intervalMs: slowTickMs,
    logger,
    run: () => watchDrift({ database, logger, every: options.checkInterval ?? 0, onCommitted: () => relay.kick() }),
  })
  const look = createTicker({
    name: 'look for work',
    intervalMs: tickMs,
    logger,
    run: async () => {
      const work = await findWork.one(database)
      if (work.outbox) relay.kick()
      if (work.queue) dispatchTicker.kick()
      if (work.runs) sweeper.kick()
      if (work.checks) driftWatch.kick()
      if (work.webhook_events) recorder.kick()
      if (work.deliveries) deliveries.kick()
    },
  })
  // Before the first wait: a service that stops while it waits for RabbitMQ must stop these before the database.
  onStop('outbox relay', () => relay.stop())
  onStop('look for work', () => look.stop())
  onStop('dispatch', () => dispatchTicker.stop())
  onStop('sweeper', () => sweeper.stop())
  onStop('drift', () => driftWatch.stop())
  onStop('counts', () => folder.stop())
  onStop('deliveries', () => deliveries.stop())
  onStop('webhook events', () => recorder.stop())
  onStop('delivery sweeper', () => deliverySweeper.stop())
  onStop('retention', () => {
    stopping.abort()
    return retainer.stop()
  })
  await broker.consume('dispatcher.commands', {
    prefetch: COMMANDS_PREFETCH,
    handle: createCommandHandler({
      database,
      broker,
      logger,
      orphans,
      onCommitted: () => relay.kick(),
      wake: () => dispatchTicker.kick(),
      wakeChecks: () => driftWatch.kick(),
    }),
  })
  await broker.consume('dispatcher.events', {
    prefetch: PREFETCH,
    handle: createEventHandler({ database, logger, onCommitted, wake: () => dispatchTicker.kick() }),
  })
  onStop('consumers', () => broker.stopConsuming())
}
