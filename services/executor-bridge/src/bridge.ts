import type { Database } from '@slipway/database'
import type { KeyRing, Logger } from '@slipway/runtime'
import type { Analyst } from './analysis/analyst.ts'
import type { ServiceAccounts } from './kubernetes/service-accounts.ts'
import type { AllowedLabels } from './labels.ts'
import type { LiveStreams } from './live-streams.ts'
import type { WakeUps } from './wake-ups.ts'

/** What the parts of the bridge share. It holds no state of its own: any replica takes any call. */
export interface Bridge {
  database: Database
  keys: KeyRing
  logger: Logger
  live: LiveStreams
  /** Ends syncs that wait for a change. */
  wakeUps: WakeUps
  /** How often each ssh target is probed; 0 for never. */
  probeSeconds: number
  /** Judges service account tokens; null where pods do not join with them. */
  serviceAccounts: ServiceAccounts | null
  /** Labels that instances may claim which join with a service account. */
  serviceAccountLabels: AllowedLabels
  /** Whom to ask about failures; null where the rules alone explain them. */
  analyst: Analyst | null
  /** Has the outbox sent now instead of at its next look. */
  wakeRelay(): void
}
