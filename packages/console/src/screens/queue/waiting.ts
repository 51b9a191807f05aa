import type { Answer } from '@slipway/client'

type Request = Pick<Answer<'listPending'>[number], 'waiting_for' | 'can_approve' | 'position'>

/** A request that waits for one of these has no place in the queue. */
const HELD: Partial<Record<NonNullable<Request['waiting_for']>, string>> = {
  start_time: 'start time',
  approval: 'approval',
  window: 'window',
}

/** The place in the queue, or what the request waits for outside of it. */
export const placeOf = ({ position, waiting_for }: Request): string =>
  position?.toLocaleString() ?? (waiting_for && HELD[waiting_for]) ?? '–'
