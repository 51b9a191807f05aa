import type { WaitingRequests } from '@slipway/database/read-models'

export interface QueueReason {
  waiting_for: string
  pool_name: string | null
  count: number
  source_names: string[]
  more_sources: number
}

/** The requests that wait for the same thing together, in the order in which the first of each comes. Each source is named once. */
export function queueReasons(waiting: readonly WaitingRequests[], sources: number): QueueReason[] {
  const groups = new Map<string, { first: WaitingRequests; count: number; names: Set<string> }>()
  for (const requests of waiting) {
    const key = JSON.stringify([requests.waiting_for, requests.pool_name])
    const group = groups.get(key) ?? { first: requests, count: 0, names: new Set() }
    group.count += requests.count
    group.names.add(requests.source_name)
    groups.set(key, group)
  }
  return [...groups.values()].map(({ first: { waiting_for, pool_name }, count, names }) => ({
    waiting_for,
    pool_name,
    count,
    source_names: [...names].slice(0, sources),
    more_sources: Math.max(0, names.size - sources),
  }))
}
