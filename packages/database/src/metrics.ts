import { counter, measure } from '@slipway/runtime'
import type { Database } from './database.ts'
import { measureMessages } from './outbox.sql.ts'

/** The highest count that is reported. Counting must stay cheap while RabbitMQ is away. */
const MOST = 100_000

export const relayed = counter(
  'slipway_outbox_relayed_total',
  'Messages that RabbitMQ confirmed and that left the outbox',
)
export const relayFailures = counter(
  'slipway_outbox_failures_total',
  'Batches of the outbox that could not be sent in full',
)

/** Measures the messages in the outbox, of all services together. */
export function measureOutbox(database: Database): void {
  measure(
    'outbox',
    {
      slipway_outbox_messages: { help: `Messages that wait in the outbox, up to ${MOST}` },
      slipway_outbox_oldest_age_seconds: { help: 'Age of the oldest message in the outbox; 0 when it is empty' },
    },
    async () => {
      const { messages, age } = await measureMessages.one(database, { limit: MOST })
      return { slipway_outbox_messages: messages, slipway_outbox_oldest_age_seconds: age }
    },
  )
}

/** Measures this process's connections to Postgres, and the work that waits for one. */
export function measureConnections({ pools }: Pick<Database, 'pools'>): void {
  const sum = (count: (pool: Database['pool']) => number) => pools.reduce((total, pool) => total + count(pool), 0)
  measure(
    'connections',
    { slipway_database_connections: { help: 'Connections to Postgres; waiting: work that has none', label: 'state' } },
    () => ({
      slipway_database_connections: {
        busy: sum((pool) => pool.totalCount - pool.idleCount),
        idle: sum((pool) => pool.idleCount),
        waiting: sum((pool) => pool.waitingCount),
      },
    }),
  )
}
