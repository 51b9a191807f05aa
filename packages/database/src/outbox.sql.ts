import { columnNames, rowSet, statement } from './sql/statement.ts'
import { array, float8, int8, nullable, oneOf, text, timestamptz, uuid } from './sql/types.ts'

const MESSAGE = {
  message_id: uuid,
  exchange: text,
  type: text,
  request_id: nullable(text),
  traceparent: nullable(text),
}

/**
 * Uses clock_timestamp(), not now(): a transaction that waited for a row lock changed the row after a transaction that began
 * later. The bodies are text, because Postgres would parse the elements of `jsonb[]` twice.
 */
export const insertMessages = statement({
  name: 'database.outbox.insert',
  parameters: { messages: rowSet({ ...MESSAGE, json: text }) },
  sql: `INSERT INTO outbox (${columnNames(MESSAGE)}, body, created_at)
    SELECT ${columnNames(MESSAGE)}, json::jsonb, clock_timestamp() FROM :messages AS m`,
})

/**
 * The next unsent messages. An id above the last one is no criterion, because ids are assigned before the commit.
 *
 * Planned for each call, as `deleteMessages` is: a plan that was made while the outbox was empty reads all messages (goal: drain of the
 * queue).
 */
export const lockMessages = statement({
  name: 'database.outbox.lock',
  planEachCall: true,
  parameters: { held: array(int8), limit: int8 },
  row: {
    id: int8,
    message_id: uuid,
    exchange: oneOf('text', ['commands', 'events']),
    type: text,
    json: text,
    request_id: nullable(text),
    traceparent: nullable(text),
    created_at: timestamptz,
  },
  sql: `SELECT id, message_id, exchange, type, body::text AS json, request_id, traceparent, created_at FROM outbox
     WHERE id <> ALL (:held) ORDER BY id LIMIT :limit FOR UPDATE SKIP LOCKED`,
})

export const deleteMessages = statement({
  name: 'database.outbox.delete',
  planEachCall: true,
  parameters: { ids: array(int8) },
  sql: 'DELETE FROM outbox WHERE id = ANY (:ids)',
})

/** Counts unsent messages up to a limit, so that the count stays cheap while RabbitMQ is away. */
export const measureMessages = statement({
  name: 'database.outbox.measure',
  parameters: { limit: int8 },
  row: { messages: int8, age: float8 },
  sql: `SELECT count(*) AS messages, coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS age
      FROM (SELECT created_at FROM outbox ORDER BY id LIMIT :limit) waiting`,
})
