import { createHash } from 'node:crypto'
import { findChunk } from './content.sql.ts'
import type { Queryable } from './queryable.ts'

/** Content of the store; its bytes are the chunks of an upload. */
export interface StoredContent {
  /** SHA-256, in hex. */
  id: string
  size: number
  upload_id: string
}

/** Stored bytes are no longer what they were. */
export class DamagedContent extends Error {
  override name = 'DamagedContent'

  constructor(id: string) {
    super(`the stored content ${id} is damaged`)
  }
}

/**
 * The bytes of content, a chunk at a time, without a connection held in between. The last chunk comes only once the hash
 * of all is right, so that nobody who reads to the end has got other bytes.
 * @throws DamagedContent
 */
export async function* contentBytes(db: Queryable, { id, size, upload_id }: StoredContent): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  let held: Buffer | null = null
  for (let number = 0, left = size; left > 0; number += 1) {
    const bytes = (await findChunk.first(db, { upload_id, number }))?.bytes
    if (bytes === undefined || bytes.length === 0 || bytes.length > left) throw new DamagedContent(id)
    hash.update(bytes)
    left -= bytes.length
    if (held !== null) yield held
    held = bytes
  }
  if (hash.digest('hex') !== id) throw new DamagedContent(id)
  if (held !== null) yield held
}
