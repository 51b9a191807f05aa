import type { Database } from '@slipway/database'
import type { KeyRing, Logger } from '@slipway/runtime'
import type { LiveStreams } from './events/live-streams.ts'

/** What the parts of the bridge share. It holds no state of its own: any replica takes any call. */
export interface Bridge {
  database: Database
  keys: KeyRing
  logger: Logger
  live: LiveStreams
  enrolmentToken: string
  /** Has the outbox sent now instead of at its next look. */
  wakeRelay(): void
}
