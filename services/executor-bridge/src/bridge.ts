import type { Database } from '@slipway/database'
import type { KeyRing, Logger } from '@slipway/runtime'
import type { Analyst } from './analysis/analyst.ts'
import type { ServiceAccounts } from './kubernetes/service-accounts.ts'
import type { AllowedLabels } from './labels.sql.ts'
import type { LiveStreams } from './live-streams.ts'
import type { LogVolume } from './log-volume/log-volume.ts'
import type { WakeUps } from './wake-ups.ts'

/** What the parts of the bridge share. It holds no state of its own besides caches: any replica takes any call. */
export interface Bridge {
  database: Database
  keys: KeyRing
  logger: Logger
  live: LiveStreams
  /** Ends syncs that wait for a change. */
  wakeUps: WakeUps
  /** How often each ssh target is probed; 0 for never. */
  probeSeconds: number
  /** Verifies service account tokens; null if pods do not join with them. */
  serviceAccounts: ServiceAccounts | null
  /** The labels that an instance with a service account may claim. */
  serviceAccountLabels: AllowedLabels
  /** Asks the analysis endpoint about failures; null if only the rules explain them. */
  analyst: Analyst | null
  /** The limits of the log, and what tenants have used today. */
  logVolume: LogVolume
  /** Makes the relay publish the outbox now. */
  wakeRelay(): void
}
