import type { Database, Quarantine } from '@slipway/database'
import type { Logger } from '@slipway/runtime'

/** What the parts of retention work with. */
export interface DropOptions {
  database: Database
  logger: Logger
  /** Ends it early. */
  signal: AbortSignal
  quarantine: Quarantine
}
