import type { Database } from '@slipway/database'

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
    const { rows } = await tx.query<QueueSettings>(
      'SELECT ageing_seconds, tenant_running_limit, analysis_enabled FROM queue_settings FOR UPDATE',
      [],
    )
    const [before] = rows
    const ageingChanges = before?.ageing_seconds !== settings.ageing_seconds
    const isSame = (['tenant_running_limit', 'analysis_enabled'] as const).every(
      (name) => before?.[name] === settings[name],
    )
    if (!ageingChanges && isSame) return
    if (ageingChanges) {
      // A million requests take longer than a statement may.
      await tx.query('SET LOCAL statement_timeout = 0')
      await tx.query('LOCK TABLE pending_requests IN SHARE ROW EXCLUSIVE MODE')
    }
    await tx.query('UPDATE queue_settings SET ageing_seconds = $1, tenant_running_limit = $2, analysis_enabled = $3', [
      settings.ageing_seconds,
      settings.tenant_running_limit,
      settings.analysis_enabled,
    ])
    if (ageingChanges) await tx.query(`UPDATE pending_requests SET priority = priority WHERE status = 'pending'`)
  })
}
