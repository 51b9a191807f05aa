import { createHash } from 'node:crypto'
import { type Database, forAllTenants, type Queryable } from '@slipway/database'
import { uuidv7 } from '@slipway/runtime'

/** Postgres hands a chunk out as hex: larger ones make more garbage at once than a busy gateway has collected in time. */
const CHUNK_BYTES = 256 * 1024

export interface Received {
  /** SHA-256 of the bytes, in hex. */
  id: string
  size: number
}

/**
 * Stores bytes as they come, a chunk at a time. `accept` looks at what came before it counts, or throws; `finish` works
 * in the transaction that makes it content. Content is stored once, whoever brings it, so this acts for all tenants.
 * What is not accepted, or breaks off, leaves nothing behind.
 */
export function storeContent(
  database: Database,
  bytes: AsyncIterable<Buffer>,
  { accept, finish }: { accept(received: Received): void; finish(tx: Queryable, received: Received): Promise<void> },
): Promise<Received> {
  return forAllTenants(async () => {
    const uploadId = uuidv7()
    try {
      await database.query('INSERT INTO content_uploads (id) VALUES ($1)', [uploadId])
      const received = await receive(database, uploadId, bytes)
      accept(received)
      const keptAs = await database.transaction(async (tx) => {
        const kept = await keep(tx, uploadId, received)
        await finish(tx, received)
        return kept
      })
      if (keptAs !== uploadId) await discard(database, uploadId)
      return received
    } catch (error) {
      await discard(database, uploadId)
      throw error
    }
  })
}

async function receive(database: Database, uploadId: string, bytes: AsyncIterable<Buffer>): Promise<Received> {
  const hash = createHash('sha256')
  let size = 0
  let number = 0
  for await (const chunk of chunksOf(bytes)) {
    hash.update(chunk)
    size += chunk.length
    const { rowCount } = await database.query(
      `WITH upload AS (UPDATE content_uploads SET touched_at = now() WHERE id = $1 RETURNING id)
       INSERT INTO content_chunks (upload_id, number, bytes) SELECT id, $2, $3 FROM upload`,
      [uploadId, number, chunk],
    )
    if (rowCount !== 1) throw new Error('an upload was swept while it came in')
    number += 1
  }
  return { id: hash.digest('hex'), size }
}

/** The pieces in chunks of one size. All are the same memory: each is gone when the next is asked for. */
async function* chunksOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  let length = 0
  for await (const piece of pieces) {
    for (let from = 0; from < piece.length; ) {
      const copied = piece.copy(chunk, length, from)
      from += copied
      length += copied
      if (length < CHUNK_BYTES) continue
      yield chunk
      length = 0
    }
  }
  if (length > 0) yield chunk.subarray(0, length)
}

/** Makes it content, or known content new again. Returns the upload whose chunks it is. */
async function keep(tx: Queryable, uploadId: string, { id, size }: Received): Promise<string> {
  const { rows } = await tx.query<{ upload_id: string }>(
    `INSERT INTO contents (id, size, upload_id) VALUES ($1, $2, $3)
     ON CONFLICT (id) DO UPDATE SET uploaded_at = now() RETURNING upload_id`,
    [id, size, uploadId],
  )
  return rows[0]?.upload_id ?? uploadId
}

/** Where this fails, the sweep does it. */
async function discard(database: Database, uploadId: string): Promise<void> {
  await database
    .query(
      'DELETE FROM content_uploads u WHERE id = $1 AND NOT EXISTS (SELECT FROM contents c WHERE c.upload_id = u.id)',
      [uploadId],
    )
    .catch(() => {})
}
