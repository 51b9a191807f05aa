import type { Database, Quarantine } from '@slipway/database'
import type { Logger } from '@slipway/runtime'

/** What all parts of retention need. */
export interface DropOptions {
  database: Database
  logger: Logger
  /** Stops the work early. */
  signal: AbortSignal
  quarantine: Quarantine
}
