import type { Envelope } from '@slipway/contracts'
import type { LogLevel } from '@slipway/runtime'
import type { Outcome } from '../planning/outcome.ts'

/** What the thread is started with. */
export interface ThreadSettings {
  name: string
  databaseUrl: string
  encryptionKeys: string
  logLevel: LogLevel
}

/** To the thread: a command to plan. One at a time, so an answer needs no number. */
export type ToThread = Envelope

/** From the thread: the outcome, or why there is none for now. */
export type FromThread = { outcome: Outcome } | { failure: string }
