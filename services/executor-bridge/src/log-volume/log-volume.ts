import type { Queryable } from '@slipway/database'
import type { LogBytes } from './keep.ts'
import { findBytesToday } from './log-volume.sql.ts'

/** How old a sum of a tenant may be. Bytes that this process stores are added at once, so only those of others are late. */
const REFRESH_MS = 30_000

interface Sum {
  bytes: number
  readAt: number
}

/** The limits of the log volume, and how many bytes each tenant has logged today. Deployments without tenant count as one more tenant. */
export class LogVolume {
  readonly limits: LogBytes
  readonly #refreshMs: number
  readonly #sums = new Map<string | null, Sum>()

  constructor(limits: LogBytes, { refreshMs = REFRESH_MS } = {}) {
    this.limits = limits
    this.#refreshMs = refreshMs
  }

  /** The bytes of a tenant today, read with this connection if the known sum is too old. */
  async today(tx: Queryable, tenantId: string | null): Promise<number> {
    if (this.limits.tenant_day === 0) return 0
    const known = this.#sums.get(tenantId)
    if (known && performance.now() - known.readAt < this.#refreshMs) return known.bytes
    // Other batches of the tenant continue with the sum that is known.
    if (known) known.readAt = performance.now()
    const { bytes } = await findBytesToday.one(tx, { tenant_id: tenantId })
    this.#sums.set(tenantId, { bytes, readAt: performance.now() })
    return bytes
  }

  /** Adds bytes that a committed batch has stored. */
  add(tenantId: string | null, bytes: number): void {
    const known = this.#sums.get(tenantId)
    if (known) known.bytes += bytes
  }
}
