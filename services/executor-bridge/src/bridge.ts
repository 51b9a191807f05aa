import type { Database } from '@slipway/database'
import type { KeyRing, Logger } from '@slipway/runtime'
import type { Analyst } from './analysis/analyst.ts'
import type { LiveStreams } from './events/live-streams.ts'

/** What the parts of the bridge share. It holds no state of its own: any replica takes any call. */
export interface Bridge {
  database: Database
  keys: KeyRing
  logger: Logger
  live: LiveStreams
  enrolmentToken: string
  /** Whom to ask about failures; null where the rules alone explain them. */
  analyst: Analyst | null
  /** Has the outbox sent now instead of at its next look. */
  wakeRelay(): void
}
