import { type Database, type NewRequest, readInstances } from '@slipway/database'
import { readPreviewedStart, type ShownStart } from '@slipway/database/read-models'
import type { Planned } from './planning.ts'
import { poolWarnings } from './pools.ts'

/** What a preview says of the start of a plan, with all its warnings. */
export interface StartOfPlan extends ShownStart {
  warnings: string[]
  /** The time of the decision, by the clock of the database. */
  now: Date
}

/** Reads what the dispatcher would decide about the plan now. */
export async function readStart(db: Database, planned: Planned, request: NewRequest): Promise<StartOfPlan> {
  const { start, now, freezes, others, instances } = await readDecision(db, request)
  const pools = hasPools(planned) ? await poolWarnings(db, planned, instances) : []
  return { ...start, now, warnings: [...freezes, ...others, ...planned.warnings, ...pools] }
}

/** The warnings of a create. The dispatcher decides whether it starts, so they say nothing of slots and locks. */
export async function createWarnings(db: Database, planned: Planned, request: NewRequest): Promise<string[]> {
  const freezes = request.override ? (await readDecision(db, request)).freezes : []
  const pools = hasPools(planned)
    ? await poolWarnings(db, planned, await readInstances(db, { requested: 0, most: 0, exact: false }))
    : []
  return [...freezes, ...planned.warnings, ...pools]
}

/** All facts of one decision are of one moment. */
const readDecision = (db: Database, request: NewRequest) => db.snapshot((tx) => readPreviewedStart(tx, request))

const hasPools = ({ plan }: Planned) => plan.instance_selector !== undefined
