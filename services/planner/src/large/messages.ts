import type { Envelope } from '@slipway/contracts'
import type { LogLevel } from '@slipway/runtime'
import type { Outcome } from '../planning/outcome.ts'

/** The settings with which the thread starts. */
export interface ThreadSettings {
  name: string
  databaseUrl: string
  encryptionKeys: string
  logLevel: LogLevel
}

/** To the thread: a command message to plan. The thread has one at a time, so its answer needs no id. */
export type ToThread = Envelope

/** From the thread: the outcome, or the reason of a temporary failure. */
export type FromThread = { outcome: Outcome } | { failure: string }
