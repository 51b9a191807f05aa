import type { Database } from '@slipway/database'
import type { ConcurrencyPolicy } from '@slipway/domain'
import { BEFORE_RANKING, lockSettings, rankAll, saveSettings } from './queue.sql.ts'

/** The settings of the queue. Null: no limit. */
export interface QueueSettings {
  /** One point of priority equals this many seconds of age. */
  ageing_seconds: number | null
  /** The most running deployments per tenant. */
  tenant_running_limit: number | null
  /** Whether the failures of new deployments are explained. */
  analysis_enabled: boolean
  /** For targets whose record and environment have no policy. */
  target_concurrency: ConcurrencyPolicy
}

/**
 * Stores the settings of this dispatcher for all: the last one that starts decides. If the ageing has changed, it ranks all
 * pending requests again; until then no request can be queued.
 */
export async function applySettings(database: Database, settings: QueueSettings): Promise<void> {
  await database.transaction(async (tx) => {
    const before = await lockSettings.first(tx)
    const ageingChanges = before?.ageing_seconds !== settings.ageing_seconds
    const isSame = (['tenant_running_limit', 'analysis_enabled', 'target_concurrency'] as const).every(
      (name) => before?.[name] === settings[name],
    )
    if (!ageingChanges && isSame) return
    if (ageingChanges) for (const preparation of BEFORE_RANKING) await preparation.run(tx)
    await saveSettings.run(tx, settings)
    if (ageingChanges) await rankAll.run(tx)
  })
}
