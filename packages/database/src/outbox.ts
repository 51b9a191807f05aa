import type { CommandBody, CommandType, EventBody, EventType } from '@slipway/contracts'
import { createTicker, currentContext, currentTraceparent, type Logger, type Ticker, uuidv7 } from '@slipway/runtime'
import { noteRemoval } from './commit-points.ts'
import { attempt, type Database } from './database.ts'
import { relayed, relayFailures } from './metrics.ts'
import { deleteMessages, insertMessages, lockMessages } from './outbox.sql.ts'
import { Quarantine } from './quarantine.ts'
import type { Queryable, RowOf } from './sql/statement.ts'
import { forAllTenants } from './tenant.ts'
import { keepForWebhooks } from './webhooks/keep.ts'

/** A message that the relay sends after the transaction has committed. */
export type OutboxMessage =
  | { [T in CommandType]: { exchange: 'commands'; type: T; body: CommandBody<T> } }[CommandType]
  | { [T in EventType]: { exchange: 'events'; type: T; body: EventBody<T> } }[EventType]

/** A message with its own request id and trace, if a batch acts for several requests. */
export type CausedMessage = OutboxMessage & { request_id?: string | null; traceparent?: string | null }

export const eventMessage = <T extends EventType>(type: T, body: EventBody<T>) =>
  ({ exchange: 'events', type, body }) as const

/**
 * Inserts messages into the outbox in the caller's transaction, with one statement. They get the request id and the trace of
 * the current context, unless they have their own.
 */
export async function enqueue(tx: Queryable, messages: CausedMessage[]): Promise<void> {
  const requestId = currentContext()?.request_id ?? null
  const traceparent = currentTraceparent()
  const rows = messages.map((message) => ({
    message_id: uuidv7(),
    exchange: message.exchange,
    type: message.type,
    json: JSON.stringify(message.body),
    request_id: message.request_id === undefined ? requestId : message.request_id,
    traceparent: message.traceparent === undefined ? traceparent : message.traceparent,
  }))
  await insertMessages.runRows(tx, rows)
}

/** `json` is the body. The relay does not parse it. */
type OutboxRow = RowOf<typeof lockMessages>

export interface RelayOptions {
  database: Database
  /**
   * Resolves when RabbitMQ has confirmed all messages. An error with `failures` names the messages without confirmation; any
   * other error means that no message was sent.
   */
  publish(messages: OutboxRow[]): Promise<void>
  logger: Logger
  /** Called when events for webhooks were stored. */
  onKept?(): void
  /** How often to look for messages without a kick. */
  intervalMs?: number
}

const BATCH = 500
/** The delay after a lost kick while no dispatcher runs. A dispatcher looks at the outbox each second. */
const TICK_MS = 5_000
const NOTHING = { found: 0, sent: 0, kept: 0 }

const unconfirmed = (error: unknown): Set<string> | null => {
  const failures = (error as { failures?: { message_id: string }[] } | undefined)?.failures
  return Array.isArray(failures) ? new Set(failures.map((failure) => failure.message_id)) : null
}

/**
 * Moves messages from the outbox to RabbitMQ: locks a batch, publishes it, deletes the confirmed messages, and stores the
 * events for webhooks. After a crash the messages are sent again; consumers are idempotent. A message that fails is retried
 * with backoff and does not stop the others. Several relays may run.
 */
export function startRelay({ database, publish, logger, onKept, intervalMs = TICK_MS }: RelayOptions): Ticker {
  const quarantine = new Quarantine({ task: 'outbox-relay', logger })

  async function relayBatch(): Promise<boolean> {
    let failure: unknown
    const { found, sent, kept } = await database.transaction(async (tx) => {
      const rows = await lockMessages.all(tx, { held: quarantine.held.map(Number), limit: BATCH })
      if (rows.length === 0) return NOTHING
      let unsent: Set<string> | null = new Set()
      failure = undefined
      try {
        await publish(rows)
      } catch (error) {
        failure = error
        unsent = unconfirmed(error)
        if (unsent === null) return NOTHING
      }
      for (const row of rows) if (unsent.has(row.message_id)) quarantine.hold(String(row.id))
      noteRemoval(tx, rows)
      const leaving = rows.filter((row) => !unsent.has(row.message_id))
      const left = await quarantine.together(
        leaving,
        ({ id }) => String(id),
        (some) => attempt(tx, (inner) => leave(inner, some)),
      )
      return {
        found: rows.length,
        sent: left.reduce((total, one) => total + one.sent, 0),
        kept: left.reduce((total, one) => total + one.kept, 0),
      }
    })
    relayed.inc(sent)
    if (kept > 0) onKept?.()
    if (failure !== undefined) {
      relayFailures.inc()
      throw failure
    }
    return found === BATCH
  }

  async function leave(tx: Queryable, rows: readonly OutboxRow[]) {
    const [kept] = await Promise.all([
      keepForWebhooks(tx, rows),
      deleteMessages.run(tx, { ids: rows.map((row) => row.id) }),
    ])
    return { sent: rows.length, kept }
  }

  return createTicker({
    name: 'outbox-relay',
    intervalMs,
    logger,
    // The caller of `kick` may act for one tenant, but the messages belong to all.
    run: () =>
      forAllTenants(async () => {
        while (await relayBatch());
      }),
  })
}
