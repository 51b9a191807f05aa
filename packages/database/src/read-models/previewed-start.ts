import type { Preview, Static } from '@slipway/contracts'
import type { FreezeSubject, InstanceSelector } from '@slipway/domain'
import {
  type Asked,
  admit,
  blockersIn,
  type Decision,
  type Instance,
  isNew,
  isParked,
  type PreviewedStart,
  previewStart,
  requestsAhead,
  type Snapshot,
  type StartRequest,
} from '@slipway/engine'
import { COMPATIBLE_VERSION } from '@slipway/runtime'
import { LOST_AFTER_SECONDS } from '../snapshot/fragments.ts'
import type { NewRequest } from '../snapshot/read-round.ts'
import { readShown } from '../snapshot/read-shown.ts'
import { PARKED } from '../snapshot/rules.sql.ts'
import { type Queryable, statement } from '../sql/statement.ts'
import { array, int8, jsonb, nullable, uuid } from '../sql/types.ts'
import { blockerItem } from './pending.ts'
import { readRunSeconds } from './run-time.ts'

const POOL = 'md5(:selector::jsonb::text)::uuid'
/** Of the same rank, pending requests come before a new one. */
const LAST_ID = `'ffffffff-ffff-ffff-ffff-ffffffffffff'`

/** The place that a new request would have among those of its pool, without the requests that it replaces. */
const findPlaceOfNew = statement({
  name: 'database.previewed-start.find-place',
  parameters: { selector: nullable(jsonb<InstanceSelector>()), rank: int8, replaced: array(uuid) },
  row: { position: int8 },
  sql: `SELECT waiting_pool_position(${POOL}, :rank, ${LAST_ID})
         - (SELECT count(*) FROM pending_requests r
             WHERE r.id = ANY (:replaced) AND r.status = 'pending' AND r.rank <= :rank AND r.pool_key IS NOT DISTINCT FROM ${POOL})
         + 1 AS position`,
})

/** The requests of the queue before a rank, in the groups that freezes and pools treat alike. */
const findBefore = statement({
  name: 'database.previewed-start.find-before',
  parameters: { rank: int8, replaced: array(uuid), targets: array(uuid) },
  row: {
    tenant_id: nullable(uuid),
    subject: jsonb<FreezeSubject>(),
    selector: nullable(jsonb<InstanceSelector>()),
    count: int8,
    sharing: int8,
  },
  sql: `SELECT p.tenant_id, p.freeze_subject AS subject, p.instance_selector AS selector, g.count, g.sharing
      FROM (SELECT r.freeze_key, (array_agg(r.id))[1] AS id, count(*) AS count,
                   count(*) FILTER (WHERE r.wants_targets AND r.id IN (
                     SELECT n.request_id FROM pending_targets n WHERE n.target_id = ANY (:targets))) AS sharing
              FROM pending_requests r
             WHERE r.status = 'pending' AND r.rank < ${PARKED} AND r.rank <= :rank AND r.id <> ALL (:replaced)
             GROUP BY r.freeze_key) g
      JOIN pending_requests p ON p.id = g.id`,
})

/** The fields of a preview about the start. */
export type ShownStart = Pick<Static<typeof Preview>, 'blockers' | 'earliest_start' | 'queue'>

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
    viewer: request.caller,
    now,
    tenant_name: request.plan.tenant?.name ?? null,
    version: COMPATIBLE_VERSION,
    lostAfterSeconds: LOST_AFTER_SECONDS,
    ...(await readPlace(db, decision)),
  }
  const { blockers, earliest_start, ...sentences } = previewStart(snapshot, decision.request, { decision, asked })
  return {
    start: {
      blockers: blockers.map(blockerItem),
      earliest_start: earliest_start?.toISOString() ?? null,
      queue: { ahead: await countAhead(db, snapshot, decision.request, blockersIn(decision)) },
    },
    ...sentences,
    now,
    instances,
  }
}

/** See `requestsAhead`. A request that starts at once has none before it, and a parked one stands in no queue. */
async function countAhead(
  db: Queryable,
  snapshot: Snapshot,
  request: StartRequest,
  blockers: ReturnType<typeof blockersIn>,
): Promise<number> {
  if (blockers.length === 0 || isParked(blockers)) return 0
  const { rank, arrival, targets } = request
  const before = await findBefore.all(db, {
    rank,
    replaced: arrival?.older.map(({ id }) => id) ?? [],
    targets: targets.map(({ id }) => id),
  })
  return requestsAhead(snapshot, request, before)
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
