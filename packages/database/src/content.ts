import { createHash } from 'node:crypto'
import { type Queryable, statement } from './sql/statement.ts'
import { bytea, int4, uuid } from './sql/types.ts'

const findChunk = statement({
  name: 'database.content.find-chunk',
  parameters: { upload_id: uuid, number: int4 },
  row: { bytes: bytea },
  sql: 'SELECT bytes FROM content_chunks WHERE upload_id = :upload_id AND number = :number',
})

/** Stored content. Its bytes are the chunks of an upload. */
export interface StoredContent {
  /** SHA-256 in hexadecimal. */
  id: string
  size: number
  upload_id: string
}

/** The stored bytes no longer have their hash. */
export class DamagedContent extends Error {
  override name = 'DamagedContent'

  constructor(id: string) {
    super(`the stored content ${id} is damaged`)
  }
}

/**
 * Reads content chunk by chunk, without a connection between chunks. Yields the last chunk only if the hash of all chunks is
 * right, so damaged content is never complete.
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
