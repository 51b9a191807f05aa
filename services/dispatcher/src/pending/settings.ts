import type { Database } from '@slipway/database'
import type { ConcurrencyPolicy } from '@slipway/domain'
import { saveSettings } from './queue.sql.ts'

/** The settings of the queue. Null: no limit. */
export interface QueueSettings {
  /** The most running deployments per tenant. */
  tenant_running_limit: number | null
  /** Whether the failures of new deployments are explained. */
  analysis_enabled: boolean
  /** For targets whose record and environment have no policy. */
  target_concurrency: ConcurrencyPolicy
}

/** Stores the settings of this dispatcher for all: the last one that starts decides. */
export async function applySettings(database: Database, settings: QueueSettings): Promise<void> {
  await saveSettings.run(database, settings)
}
