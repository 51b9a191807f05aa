import { LRUCache } from 'lru-cache'
import { takeFromBucket } from './bucket.ts'
import type { Rate } from './settings.ts'

const MAX_ADDRESSES = 10_000

/** Buckets of this process, in bounded memory: the least recently used bucket is dropped first. */
export class LocalBuckets {
  readonly #full = new LRUCache<string, number>({ max: MAX_ADDRESSES })

  /** Returns the microseconds until a request of this address passes; 0: now. */
  take(address: string, rate: Rate, nowUs = Math.floor(performance.now() * 1_000)): number {
    const { full, waitUs } = takeFromBucket(this.#full.get(address) ?? 0, nowUs, rate)
    this.#full.set(address, full)
    return waitUs
  }
}
