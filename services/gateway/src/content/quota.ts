import { type Database, forAllTenants, type Queryable } from '@slipway/database'
import { Problem } from '@slipway/domain'
import { measure } from '@slipway/runtime'
import type { ContentLimits } from '../dependencies.ts'
import { findLongestKnown, lockQuota, reserveBytes, sumUsage, sumUsageOfTenant } from './quota.sql.ts'

export interface Upload {
  id: string
  /** The tenant of the user who uploads; null: a user without tenant. */
  tenantId: string | null
  /** From Content-Length; null for a chunked upload. */
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

  /** Set when the upload exceeds a quota. */
  get refusal(): Problem | null {
    return this.#refusal
  }

  /**
   * Reserves space for the upload up to `size` bytes. False: there is no space, but the tenant uploaded content before that
   * is at least as long, and the upload may be that content. The caller then only hashes it.
   * @throws Problem PAYLOAD_TOO_LARGE when the upload is beyond a quota and is no known content
   */
  async reserve(size: number): Promise<boolean> {
    if (this.#refusal === null && size > this.#bytes) await this.#grow(size - this.#bytes)
    if (this.#refusal === null) return true
    if (size > this.#longestKnown) throw this.#refusal
    return false
  }

  async #grow(needed: number): Promise<void> {
    const granted = await grantBytes(this.#database, this.#limits, this.#upload, needed)
    if (typeof granted === 'number') {
      this.#bytes += granted
      return
    }
    this.#refusal = granted
    const { tenantId: tenant_id, length } = this.#upload
    this.#longestKnown = (await findLongestKnown.one(this.#database, { tenant_id, length })).size
  }
}

/**
 * Reserves at least `needed` bytes, and more where that makes the next reservation unnecessary. Returns how many, or the
 * refusal. Reservations are made one at a time, so uploads that run in parallel cannot pass a limit together.
 */
async function grantBytes(
  database: Database,
  { tenantBytes, totalBytes }: ContentLimits,
  upload: Upload,
  needed: number,
): Promise<number | Problem> {
  if (tenantBytes === 0 && totalBytes === 0) return Number.POSITIVE_INFINITY
  return database.transaction(async (tx) => {
    const [, room] = await Promise.all([lockQuota.run(tx), findRoom(tx, { tenantBytes, totalBytes }, upload)])
    const refusal = room.refusalOf(needed)
    if (refusal !== null) return refusal
    const step = upload.length === null && room.bytes >= STEP_BYTES ? STEP_BYTES : 0
    const granted = Math.max(needed, step)
    await reserveBytes.run(tx, { upload_id: upload.id, bytes: granted })
    return granted
  })
}

/** The bytes that an upload of this tenant may have now. */
export async function findRoom(
  db: Queryable,
  { tenantBytes, totalBytes }: ContentLimits,
  { tenantId }: Pick<Upload, 'tenantId'>,
): Promise<{ bytes: number; refusalOf(needed: number): Problem | null }> {
  const [ofTenant, total] = await Promise.all([
    tenantBytes === 0 ? null : sumUsageOfTenant.one(db, { tenant_id: tenantId }),
    totalBytes === 0 ? null : sumUsage.one(db),
  ])
  const freeForTenant = ofTenant === null ? Number.POSITIVE_INFINITY : tenantBytes - ofTenant.bytes
  const freeInTotal = total === null ? Number.POSITIVE_INFINITY : totalBytes - total.bytes
  return {
    bytes: Math.min(freeForTenant, freeInTotal),
    refusalOf(needed) {
      if (freeForTenant < needed) return tenantIsFull(tenantId, tenantBytes)
      return freeInTotal < needed ? storeIsFull(totalBytes) : null
    },
  }
}

const NEXT =
  'delete versions whose files are no longer needed, or ask an operator to raise the limit. Content that no version uses is deleted some days after its last upload'

function tenantIsFull(tenantId: string | null, limit: number): Problem {
  const owner = tenantId === null ? 'users without tenant' : 'this tenant'
  return tooLarge(`The content of ${owner} would be larger than its limit of ${limit} bytes: ${NEXT}`, limit)
}

const storeIsFull = (limit: number) =>
  tooLarge(`All content together would be larger than its limit of ${limit} bytes: ${NEXT}`, limit)

const tooLarge = (message: string, limit: number) => new Problem('PAYLOAD_TOO_LARGE', message, { limit_bytes: limit })

export function measureContent(database: Database): void {
  measure(
    'content',
    { slipway_content_bytes: { help: 'Bytes of stored content, and those that running uploads have reserved' } },
    async () => {
      const { bytes } = await forAllTenants(() => sumUsage.one(database))
      return { slipway_content_bytes: bytes }
    },
  )
}
