import type { PlannedFault } from '../plan.ts'
import type { CampaignSuite } from '../suite.ts'

/** A fault that goes on until `heal`. `heal` may be called early, at the end of a round, and is called once. */
export interface Fault {
  inject(): Promise<void> | void
  heal(): Promise<void> | void
  /** What a reader of the report should know, for example an exit code. */
  note?: () => string
}

/** Makes the faults of a family. */
export type FaultFactory = (campaign: CampaignSuite, planned: PlannedFault) => Fault

/** A fault without an end. */
export const moment = (inject: () => Promise<void> | void): Fault => ({ inject, heal: () => {} })
