import { LRUCache } from 'lru-cache'
import type { Rate } from './settings.ts'

/**
 * A token bucket as one number, by the generic cell rate algorithm. `full` is the time at which the bucket is full again; each
 * request moves it by one interval. A request passes while `full` is at most a whole bucket ahead. Whole microseconds avoid
 * rounding.
 */
interface BucketStep {
  /** The new value of `full`. A refused request leaves it unchanged. */
  full: number
  /** 0: the request passes. Otherwise the time until a request passes. */
  waitUs: number
}

/** `full` is 0 for an unused bucket. The script in redis.ts computes the same. */
export function takeFromBucket(full: number, nowUs: number, { rps, burst }: Rate): BucketStep {
  const interval = Math.max(1, Math.floor(1_000_000 / rps))
  const capacity = interval * burst
  // Limits the wait to the time that a bucket takes to fill, even if the clock was set back or the limit was lowered.
  const present = Math.min(Math.max(full, nowUs), nowUs + capacity)
  const next = present + interval
  const waitUs = next - nowUs - capacity
  return waitUs > 0 ? { full: present, waitUs } : { full: next, waitUs: 0 }
}

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
