import { type Database, LOCK_KEYS, type Queryable } from '@slipway/database'
import { Problem } from '@slipway/domain'
import type { ContentLimits } from '../dependencies.ts'

export interface Upload {
  id: string
  /** The tenant of the user who uploads; null: a user without tenant. */
  tenantId: string | null
  /** As Content-Length says; null: the length is known only at the end. */
  length: number | null
}

/** An upload of unknown length reserves this much at a time. A transaction per chunk would cost as much as the chunk. */
const STEP_BYTES = 4 * 1024 * 1024

/** The bytes that one upload reserves within the quotas. Deleting the row of the upload gives them back. */
export class Reservation {
  readonly #database: Database
  readonly #limits: ContentLimits
  readonly #upload: Upload
  #bytes = 0
  #longestKnown = 0
  #refusal: Problem | null = null

  constructor(database: Database, limits: ContentLimits, upload: Upload) {
    this.#database = database
    this.#limits = limits
    this.#upload = upload
  }

  /** Why nothing could be reserved; null as long as the upload is within the quotas. */
  get refusal(): Problem | null {
    return this.#refusal
  }

  /**
   * Reserves space for the upload up to `size` bytes. False: there is no space, but the tenant uploaded content before that
   * is at least as long, and the upload may be that content. The caller then only hashes it.
   * @throws Problem PAYLOAD_TOO_LARGE when the upload is beyond a quota and is no known content
   */
  async covers(size: number): Promise<boolean> {
    if (this.#refusal === null && size > this.#bytes) await this.#grow(size - this.#bytes)
    if (this.#refusal === null) return true
    if (size > this.#longestKnown) throw this.#refusal
    return false
  }

  async #grow(needed: number): Promise<void> {
    const granted = await reserve(this.#database, this.#limits, this.#upload, needed)
    if (typeof granted === 'number') {
      this.#bytes += granted
      return
    }
    this.#refusal = granted
    this.#longestKnown = await longestKnown(this.#database, this.#upload)
  }
}

/**
 * Reserves at least `needed` bytes, and more where that makes the next reservation unnecessary. Returns how many, or the
 * refusal. Reservations are made one at a time, so uploads that run in parallel cannot pass a limit together.
 */
async function reserve(
  database: Database,
  { tenantBytes, totalBytes }: ContentLimits,
  upload: Upload,
  needed: number,
): Promise<number | Problem> {
  if (tenantBytes === 0 && totalBytes === 0) return Number.POSITIVE_INFINITY
  return database.transaction(async (tx) => {
    const [, { total, tenant }] = await Promise.all([
      // In a statement of its own: a statement that waits for the lock does not see what was committed meanwhile.
      tx.query(`SELECT pg_advisory_xact_lock(${LOCK_KEYS.contentQuota})`),
      foldUsage(tx, upload.tenantId),
    ])
    const freeForTenant = tenantBytes === 0 ? Number.POSITIVE_INFINITY : tenantBytes - tenant
    const freeInTotal = totalBytes === 0 ? Number.POSITIVE_INFINITY : totalBytes - total
    if (freeForTenant < needed) return tenantIsFull(upload, tenantBytes)
    if (freeInTotal < needed) return storeIsFull(totalBytes)
    const step = upload.length === null && Math.min(freeForTenant, freeInTotal) >= STEP_BYTES ? STEP_BYTES : 0
    const granted = Math.max(needed, step)
    await tx.query('UPDATE content_uploads SET reserved_bytes = reserved_bytes + $2 WHERE id = $1', [
      upload.id,
      granted,
    ])
    return granted
  })
}

/** Reads the sums of the tenant and of all content, and replaces the rows of each by one. */
async function foldUsage(tx: Queryable, tenantId: string | null): Promise<{ total: number; tenant: number }> {
  const { rows } = await tx.query<{ scope: string; bytes: number }>(
    `WITH taken AS (DELETE FROM content_usage WHERE scope IN ('total', content_scope($1)) RETURNING scope, bytes)
     INSERT INTO content_usage (scope, bytes) SELECT scope, sum(bytes) FROM taken GROUP BY scope RETURNING scope, bytes`,
    [tenantId],
  )
  const total = rows.find(({ scope }) => scope === 'total')
  const tenant = rows.find(({ scope }) => scope !== 'total')
  return { total: total?.bytes ?? 0, tenant: tenant?.bytes ?? 0 }
}

/** The size of the longest content that the tenant uploaded before and that this upload can be; 0: there is none. */
async function longestKnown(db: Queryable, { tenantId, length }: Upload): Promise<number> {
  const { rows } = await db.query<{ size: number }>(
    `SELECT coalesce(max(size), 0) AS size FROM content_tenants
     WHERE tenant_id IS NOT DISTINCT FROM $1 AND ($2::bigint IS NULL OR size = $2)`,
    [tenantId, length],
  )
  return rows[0]?.size ?? 0
}

const NEXT =
  'delete versions whose files are no longer needed, or ask an operator to raise the limit. Content that no version uses is deleted some days after its last upload'

function tenantIsFull({ tenantId }: Upload, limit: number): Problem {
  const whose = tenantId === null ? 'users without tenant' : 'this tenant'
  return tooLarge(`The content of ${whose} would be larger than its limit of ${limit} bytes: ${NEXT}`, limit)
}

const storeIsFull = (limit: number) =>
  tooLarge(`All content together would be larger than its limit of ${limit} bytes: ${NEXT}`, limit)

const tooLarge = (message: string, limit: number) => new Problem('PAYLOAD_TOO_LARGE', message, { limit_bytes: limit })
