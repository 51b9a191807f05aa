import type { CommandBody, CommandType, EventBody, EventType } from '@slipway/contracts'
import { createTicker, currentContext, type Logger, type Ticker, uuidv7 } from '@slipway/runtime'
import type { Database, Queryable } from './database.ts'

/** A message that is to be sent once the transaction that decides on it commits. */
export type OutboxMessage =
  | { [T in CommandType]: { exchange: 'commands'; type: T; body: CommandBody<T> } }[CommandType]
  | { [T in EventType]: { exchange: 'events'; type: T; body: EventBody<T> } }[EventType]

export const commandMessage = <T extends CommandType>(type: T, body: CommandBody<T>) =>
  ({ exchange: 'commands', type, body }) as OutboxMessage

export const eventMessage = <T extends EventType>(type: T, body: EventBody<T>) =>
  ({ exchange: 'events', type, body }) as OutboxMessage

/**
 * Puts messages into the outbox, within the caller's transaction, in one statement. They carry the request id of the
 * current context, unless one has its own: a batch may act for several requests.
 */
export async function enqueue(
  tx: Queryable,
  messages: (OutboxMessage & { request_id?: string | null })[],
): Promise<void> {
  if (messages.length === 0) return
  const requestId = currentContext()?.request_id ?? null
  await tx.query(
    `INSERT INTO outbox (message_id, exchange, type, body, request_id)
     SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::jsonb[], $5::text[])`,
    [
      messages.map(() => uuidv7()),
      messages.map((m) => m.exchange),
      messages.map((m) => m.type),
      messages.map((m) => JSON.stringify(m.body)),
      messages.map((m) => (m.request_id === undefined ? requestId : m.request_id)),
    ],
  )
}

interface OutboxRow {
  message_id: string
  exchange: 'commands' | 'events'
  type: string
  body: unknown
  request_id: string | null
}

export interface RelayOptions {
  database: Database
  /** Resolves when the broker has confirmed all of them. */
  publish(messages: OutboxRow[]): Promise<void>
  logger: Logger
  /** How often to look without being woken; a lost wake-up costs this much. */
  intervalMs?: number
}

const BATCH = 200

/**
 * Moves messages from the outbox to the broker: deletes a batch, publishes it, commits when it is confirmed. A crash in
 * between sends it again, which consumers bear. Any number of relays may run.
 */
export function startRelay({ database, publish, logger, intervalMs = 500 }: RelayOptions): Ticker {
  const relayBatch = () =>
    database.transaction(async (tx) => {
      // By what is unsent, never by "id above the last": ids are taken before commit.
      const { rows } = await tx.query<OutboxRow & { id: number }>(
        `DELETE FROM outbox WHERE id IN (SELECT id FROM outbox ORDER BY id LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
         RETURNING id, message_id, exchange, type, body, request_id`,
      )
      if (rows.length > 0) await publish(rows.sort((a, b) => a.id - b.id))
      return rows.length
    })

  return createTicker({
    name: 'outbox-relay',
    intervalMs,
    logger,
    async run() {
      while ((await relayBatch()) === BATCH);
    },
  })
}
