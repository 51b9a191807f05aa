import type { Preview, Static } from '@slipway/contracts'
import {
  type Asked,
  admit,
  blockersIn,
  type Decision,
  type Instance,
  isNew,
  type PreviewedStart,
  previewStart,
} from '@slipway/engine'
import { COMPATIBLE_VERSION } from '@slipway/runtime'
import type { Queryable } from '../queryable.ts'
import { LOST_AFTER_SECONDS } from '../snapshot/instances.ts'
import type { NewRequest } from '../snapshot/read-round.ts'
import { readShown } from '../snapshot/read-shown.ts'
import { blockerItem } from './pending.ts'
import { findPlaceOfNew } from './previewed-start.sql.ts'
import { readRunSeconds } from './run-time.ts'

/** The fields of a preview about the start. */
export type ShownStart = Pick<Static<typeof Preview>, 'blockers' | 'earliest_start'>

export interface ReadStart extends Pick<PreviewedStart, 'freezes' | 'others'> {
  start: ShownStart
  /** When it was read, by the clock of the database. */
  now: Date
  /** All instances that have joined. */
  instances: readonly Instance[]
}

/** Reads what the dispatcher would decide now about a request that is not stored, as its caller may see it. */
export async function readPreviewedStart(db: Queryable, request: NewRequest): Promise<ReadStart> {
  const { snapshot, requests } = await readShown(db, { pending: [], arrivals: [request] })
  const { now, instances } = snapshot
  const decision = admit(snapshot, requests, now).find(({ request: one }) => isNew(one) && one.id === request.id)
  if (decision === undefined || decision.request.kind !== 'start')
    throw new Error(`The round decided nothing about ${request.id}`)
  const asked: Asked = {
    ...{ viewer: request.caller, now, tenant_name: request.plan.tenant?.name ?? null, version: COMPATIBLE_VERSION },
    ...{ lostAfterSeconds: LOST_AFTER_SECONDS, ...(await readPlace(db, decision)) },
  }
  const { blockers, earliest_start, ...sentences } = previewStart(snapshot, decision.request, { decision, asked })
  return {
    start: {
      blockers: blockers.map(blockerItem),
      earliest_start: earliest_start?.toISOString() ?? null,
    },
    ...{ ...sentences, now, instances },
  }
}

/** The place that the request would have among those of its pool, and the time of a run. Only for one that waits for a slot. */
async function readPlace(db: Queryable, decision: Decision): Promise<Pick<Asked, 'position' | 'runSeconds'>> {
  const { request } = decision
  const waits = blockersIn(decision).some(({ code }) => code === 'capacity')
  if (request.kind !== 'start' || !waits) return { position: null, runSeconds: null }
  const { selector, rank, arrival } = request
  const replaced = arrival?.older.map(({ id }) => id) ?? []
  const [{ position }, runSeconds] = await Promise.all([
    findPlaceOfNew.one(db, { selector, rank, replaced }),
    readRunSeconds(db),
  ])
  return { position, runSeconds }
}
