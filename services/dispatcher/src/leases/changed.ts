import { type CausedMessage, eventMessage } from '@slipway/database'

interface Cause {
  request_id: string | null
  traceparent: string | null
}

/** Wakes each instance with a new lease once. The message has the request id of the instance's first lease. */
export function leasesChanged(leases: readonly { instance_id: string }[], causes: readonly Cause[]): CausedMessage[] {
  const firsts = new Map<string, Cause | undefined>()
  for (const [index, { instance_id }] of leases.entries()) {
    if (!firsts.has(instance_id)) firsts.set(instance_id, causes[index])
  }
  return [...firsts].map(([instance_id, cause]) => ({
    ...eventMessage('lease.changed', { instance_id }),
    ...(cause && { request_id: cause.request_id, traceparent: cause.traceparent }),
  }))
}
