import { createHash } from 'node:crypto'
import { type Database, forAllTenants, type Queryable } from '@slipway/database'
import type { Problem } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import type { ContentLimits } from '../dependencies.ts'
import { Reservation, type Upload } from './quota.ts'

/** Postgres sends a chunk as hexadecimal text. Larger chunks make garbage faster than a busy gateway collects it. */
const CHUNK_BYTES = 256 * 1024

export interface Received {
  /** SHA-256 of the bytes, in hex. */
  id: string
  size: number
}

export interface Incoming extends Omit<Upload, 'id'> {
  bytes: AsyncIterable<Buffer>
}

export interface Decisions {
  /** Looks at the complete upload before it becomes content. It throws to refuse the upload. */
  accept(received: Received): void
  /** Runs in the transaction that makes the upload content. */
  finish(tx: Queryable, received: Received): Promise<void>
}

/**
 * Stores bytes chunk by chunk as they arrive. Content is stored once for all tenants, so this acts for all of them. A
 * refused or broken upload is deleted, which gives back the bytes that it reserved.
 * @throws Problem PAYLOAD_TOO_LARGE
 */
export function storeContent(
  database: Database,
  limits: ContentLimits,
  { bytes, ...incoming }: Incoming,
  { accept, finish }: Decisions,
): Promise<Received> {
  const upload = { id: uuidv7(), ...incoming }
  const reservation = new Reservation(database, limits, upload)
  return forAllTenants(async () => {
    try {
      await database.query('INSERT INTO content_uploads (id, tenant_id) VALUES ($1, $2)', [upload.id, upload.tenantId])
      const received = await receive(database, upload, bytes, reservation)
      accept(received)
      const { refusal } = reservation
      const keptAs = await database.transaction(async (tx) => {
        const kept = refusal === null ? await keep(tx, upload, received) : null
        if (refusal !== null) await keepKnown(tx, upload, received, refusal)
        await finish(tx, received)
        return kept
      })
      if (keptAs !== upload.id) await discard(database, upload)
      return received
    } catch (error) {
      await discard(database, upload)
      throw error
    }
  })
}

async function receive(
  database: Database,
  upload: Upload,
  bytes: AsyncIterable<Buffer>,
  reservation: Reservation,
): Promise<Received> {
  const hash = createHash('sha256')
  let size = 0
  let number = 0
  let isStored = await reservation.covers(upload.length ?? 0)
  for await (const chunk of chunksOf(bytes)) {
    hash.update(chunk)
    size += chunk.length
    if (await reservation.covers(size)) {
      await storeChunk(database, upload, number, chunk)
      number += 1
    } else if (isStored) {
      isStored = false
      await discard(database, upload)
    }
  }
  return { id: hash.digest('hex'), size }
}

async function storeChunk(database: Database, { id }: Upload, number: number, chunk: Buffer): Promise<void> {
  const { rowCount } = await database.query(
    `WITH upload AS (UPDATE content_uploads SET touched_at = now() WHERE id = $1 RETURNING id)
     INSERT INTO content_chunks (upload_id, number, bytes) SELECT id, $2, $3 FROM upload`,
    [id, number, chunk],
  )
  if (rowCount !== 1) throw new Error('the sweep deleted an upload that was still running')
}

/** Joins the pieces to chunks of one size. All chunks are the same memory: each is overwritten when the next is read. */
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

/** Makes the upload content of its tenant. Returns the id of the upload whose chunks are kept. */
async function keep(tx: Queryable, upload: Upload, { id, size }: Received): Promise<string> {
  const { rows } = await tx.query<{ upload_id: string }>(
    `INSERT INTO contents (id, size, upload_id) VALUES ($1, $2, $3)
     ON CONFLICT (id) DO UPDATE SET uploaded_at = now() RETURNING upload_id`,
    [id, size, upload.id],
  )
  await tx.query(
    `INSERT INTO content_tenants (content_id, tenant_id, size) VALUES ($1, $2, $3)
     ON CONFLICT (content_id, tenant_id) DO UPDATE SET uploaded_at = now()`,
    [id, upload.tenantId, size],
  )
  // From here on the content counts, not its reservation.
  await tx.query('UPDATE content_uploads SET reserved_bytes = 0 WHERE id = $1', [upload.id])
  return rows[0]?.upload_id ?? upload.id
}

/**
 * Accepts an upload beyond a quota if it is content that its tenant uploaded before.
 * @throws the refusal if it is not
 */
async function keepKnown(tx: Queryable, { tenantId }: Upload, { id }: Received, refusal: Problem): Promise<void> {
  await tx.query('UPDATE contents SET uploaded_at = now() WHERE id = $1', [id])
  const { rowCount } = await tx.query(
    'UPDATE content_tenants SET uploaded_at = now() WHERE content_id = $1 AND tenant_id IS NOT DISTINCT FROM $2',
    [id, tenantId],
  )
  if (rowCount === 0) throw refusal
}

/** If this fails, the sweep deletes the upload later. */
async function discard(database: Database, { id }: Upload): Promise<void> {
  await database
    .query(
      'DELETE FROM content_uploads u WHERE id = $1 AND NOT EXISTS (SELECT FROM contents c WHERE c.upload_id = u.id)',
      [id],
    )
    .catch(() => {})
}
