import type { PlannedFault } from '../plan.ts'
import type { CampaignSuite } from '../suite.ts'
import type { Catalog } from '../workload/catalog.ts'
import type { Client } from '../workload/client.ts'

/** A fault that goes on until `heal`. `heal` may be called early, at the end of a round, and is called once. */
export interface Fault {
  inject(): Promise<void> | void
  heal(): Promise<void> | void
  /** A note for the reader of the report, for example an exit code. */
  note?: () => string
}

export interface Scene {
  campaign: CampaignSuite
  catalog: Catalog
  /** For faults of clients, whose calls are recorded like all calls. */
  client: Client
}

/** Makes the faults of a family. */
export type FaultFactory = (scene: Scene, planned: PlannedFault) => Fault

/** A fault without an end. */
export const moment = (inject: () => Promise<void> | void): Fault => ({ inject, heal: () => {} })
