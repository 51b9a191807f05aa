import type { Answer } from '@slipway/client'
import type { RightObject } from '../../session/right-question.ts'

type Listed = Answer<'listPending'>[number]
type Place = Pick<Listed, 'waiting_for' | 'can_approve' | 'position'>
export type Request = Pick<Listed, 'id' | 'priority' | 'environment_id' | 'source_type' | 'source_id'>

/** A request that waits for one of these has no place in the queue. */
const HELD: Partial<Record<NonNullable<Place['waiting_for']>, string>> = {
  start_time: 'start time',
  approval: 'approval',
  window: 'window',
}

/** The place in the queue, or what the request waits for outside of it. */
export const placeOf = ({ position, waiting_for }: Place): string =>
  position?.toLocaleString() ?? (waiting_for && HELD[waiting_for]) ?? '–'

/** What is known here. The environments of its targets are the server's to judge. */
export const touchedBy = ({ environment_id, source_type, source_id }: Request): RightObject => ({
  kind: 'deployment',
  environment_id: environment_id ?? null,
  source: { type: source_type, id: source_id },
})
