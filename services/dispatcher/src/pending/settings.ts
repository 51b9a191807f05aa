import type { Database } from '@slipway/database'
import { BEFORE_RANKING, lockSettings, rankAll, saveSettings } from './queue.sql.ts'

/** How the queue is run; null for "no such limit". */
export interface QueueSettings {
  /** A point of priority is worth this many seconds of waiting. */
  ageing_seconds: number | null
  /** Deployments of one tenant that may run at once. */
  tenant_running_limit: number | null
  /** Whether failures in deployments that start from now on are explained. */
  analysis_enabled: boolean
}

/**
 * Makes what this dispatcher is configured to the rule for all: the last one that starts decides. With another ageing
 * everything that waits is ranked anew, while nothing is queued.
 */
export async function applySettings(database: Database, settings: QueueSettings): Promise<void> {
  await database.transaction(async (tx) => {
    const before = await lockSettings.first(tx)
    const ageingChanges = before?.ageing_seconds !== settings.ageing_seconds
    const isSame = (['tenant_running_limit', 'analysis_enabled'] as const).every(
      (name) => before?.[name] === settings[name],
    )
    if (!ageingChanges && isSame) return
    if (ageingChanges) for (const preparation of BEFORE_RANKING) await preparation.run(tx)
    await saveSettings.run(tx, settings)
    if (ageingChanges) await rankAll.run(tx)
  })
}
