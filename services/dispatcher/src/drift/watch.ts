import type { Database } from '@slipway/database'
import type { Logger } from '@slipway/runtime'
import { deleteChecks, publishDriftChanges, recordChecks } from './finish-checks.ts'
import { startChecks } from './start-checks.ts'

export interface DriftOptions {
  database: Database
  logger: Logger
  /** Seconds between the checks of a release whose actions name no interval; 0 for never. */
  every: number
  onCommitted(): void
}

/** One round: records ended checks, tells of drift, deletes old checks and starts those that are due. */
export async function watchDrift({ onCommitted, ...options }: DriftOptions): Promise<void> {
  await recordChecks(options)
  while ((await publishDriftChanges(options.database)) > 0) onCommitted()
  await deleteChecks(options)
  if ((await startChecks(options)) > 0) onCommitted()
}
