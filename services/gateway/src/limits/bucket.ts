import type { Rate } from './settings.ts'

/**
 * A token bucket as one number, by the generic cell rate algorithm: `full` is the moment at which the bucket will be full
 * again, and each request moves it on by one interval. A request passes while that is no further ahead than a whole
 * bucket. All times in whole microseconds, so that no sum is rounded.
 */
export interface BucketStep {
  /** The new value of `full`; the old one where the request does not pass. */
  full: number
  /** 0: the request passes. Else how long until one would. */
  waitUs: number
}

/** `full` is 0 for a bucket that nobody has used. The same sums as in the script of redis.ts. */
export function takeFromBucket(full: number, nowUs: number, { rps, burst }: Rate): BucketStep {
  const interval = Math.max(1, Math.floor(1_000_000 / rps))
  const capacity = interval * burst
  // A clock that was set back, or a limit that was lowered, must not shut anybody out for longer than a bucket takes.
  const present = Math.min(Math.max(full, nowUs), nowUs + capacity)
  const next = present + interval
  const waitUs = next - nowUs - capacity
  return waitUs > 0 ? { full: present, waitUs } : { full: next, waitUs: 0 }
}
