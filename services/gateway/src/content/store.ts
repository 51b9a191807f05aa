import { createHash } from 'node:crypto'
import {
  ALL_TENANTS,
  type Database,
  forAllTenants,
  type Queryable,
  seeTenant,
  type Transaction,
} from '@slipway/database'
import type { Problem } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import type { CallingUser } from '../callers/calling-user.ts'
import type { ContentLimits } from '../dependencies.ts'
import { findRoom, Reservation, type Upload } from './quota.ts'
import {
  addContent,
  addForTenant,
  deleteUpload,
  dropReservation,
  insertChunk,
  insertUpload,
  insertUploader,
  isOfTenant,
  keepContent,
  keepForTenant,
  touchContent,
  touchForTenant,
} from './store.sql.ts'
import { visibleContent } from './visible-content.ts'

/** Postgres sends a chunk as hexadecimal text. Larger chunks make garbage faster than a busy gateway collects it. */
const CHUNK_BYTES = 256 * 1024

interface ReceivedContent {
  /** SHA-256 of the bytes, in hex. */
  id: string
  size: number
}

interface IncomingContent extends Omit<Upload, 'id'> {
  bytes: AsyncIterable<Buffer>
}

interface UploadHooks {
  /** Checks the complete upload before it becomes content. Throws to refuse it. */
  accept(received: ReceivedContent): void
  /** Runs in the transaction that makes the upload content. */
  finish(tx: Queryable, received: ReceivedContent): Promise<void>
}

/**
 * Stores bytes chunk by chunk as they arrive. Content is stored once for all tenants, so this acts for all of them. A
 * refused or broken upload is deleted, which gives back the bytes that it reserved.
 * @throws Problem PAYLOAD_TOO_LARGE
 */
export function storeContent(
  database: Database,
  limits: ContentLimits,
  { bytes, ...incoming }: IncomingContent,
  { accept, finish }: UploadHooks,
): Promise<ReceivedContent> {
  const upload = { id: uuidv7(), ...incoming }
  const reservation = new Reservation(database, limits, upload)
  return forAllTenants(async () => {
    try {
      await insertUpload.run(database, { id: upload.id, tenant_id: upload.tenantId })
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

/**
 * What an upload of these bytes would leave, in a transaction that is rolled back. It takes no lock, so that uploads go on; only one of
 * the same new bytes waits. Content that the caller sees already is written nowhere.
 * @throws Problem PAYLOAD_TOO_LARGE
 */
export async function rehearseUpload(
  tx: Transaction,
  limits: ContentLimits,
  caller: Pick<CallingUser, 'tenant_id' | 'user_id'>,
  received: ReceivedContent,
): Promise<void> {
  const { tenant_id, user_id } = caller
  const visible = await visibleContent(tx, caller, [received.id])
  await seeTenant.run(tx, { tenant: ALL_TENANTS })
  const upload = { id: uuidv7(), tenantId: tenant_id, length: received.size }
  const { known } = await isOfTenant.one(tx, { id: received.id, tenant_id })
  const refusal = known ? null : (await findRoom(tx, limits, upload)).refusalOf(received.size)
  if (refusal !== null) throw refusal
  if (visible.length === 0) {
    await insertUpload.run(tx, { id: upload.id, tenant_id })
    await addContent.run(tx, { ...received, upload_id: upload.id })
    if (!known) await addForTenant.run(tx, { ...received, tenant_id })
    await insertUploader.run(tx, { content_id: received.id, user_id })
  }
  await seeTenant.run(tx, { tenant: tenant_id ?? ALL_TENANTS })
}

async function receive(
  database: Database,
  upload: Upload,
  bytes: AsyncIterable<Buffer>,
  reservation: Reservation,
): Promise<ReceivedContent> {
  const hash = createHash('sha256')
  let size = 0
  let number = 0
  let isStored = await reservation.reserve(upload.length ?? 0)
  for await (const chunk of chunksOf(bytes)) {
    hash.update(chunk)
    size += chunk.length
    if (await reservation.reserve(size)) {
      await storeChunk(database, upload, number, chunk)
      number += 1
    } else if (isStored) {
      isStored = false
      await discard(database, upload)
    }
  }
  return { id: hash.digest('hex'), size }
}

async function storeChunk(database: Database, { id }: Upload, number: number, bytes: Buffer): Promise<void> {
  const written = await insertChunk.run(database, { upload_id: id, number, bytes })
  if (written !== 1) throw new Error('the sweep deleted an upload that was still running')
}

/** Joins the pieces to chunks of one size. All chunks share one buffer: the next chunk overwrites the last one. */
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

/** Makes the upload content of its tenant. Returns the id of the upload with the chunks of the content. */
async function keep(
  tx: Queryable,
  { id: upload_id, tenantId: tenant_id }: Upload,
  received: ReceivedContent,
): Promise<string> {
  const kept = await keepContent.one(tx, { ...received, upload_id })
  await keepForTenant.run(tx, { ...received, tenant_id })
  // The rows of the content count now, not the reservation.
  await dropReservation.run(tx, { upload_id })
  return kept.upload_id
}

/**
 * Accepts an upload beyond a quota if it is content that its tenant uploaded before.
 * @throws the refusal if it is not
 */
async function keepKnown(
  tx: Queryable,
  { tenantId }: Upload,
  { id }: ReceivedContent,
  refusal: Problem,
): Promise<void> {
  await touchContent.run(tx, { id })
  const known = await touchForTenant.run(tx, { id, tenant_id: tenantId })
  if (known === 0) throw refusal
}

/** If this fails, the sweep deletes the upload later. */
async function discard(database: Database, { id }: Upload): Promise<void> {
  await deleteUpload.run(database, { id }).catch(() => {})
}
