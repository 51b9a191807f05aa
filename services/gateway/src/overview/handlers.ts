import { OVERVIEW_LIMITS } from '@slipway/contracts'
import { type Database, type Queryable, type RowOf, readFreezes } from '@slipway/database'
import { countApprovable, listItems, readQueueNow } from '@slipway/database/read-models'
import { may } from '@slipway/domain'
import { type CallingUser, pendingViewer } from '../callers/calling-user.ts'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import { type FailureGroup, groupFailures } from './failures.ts'
import { freezesOf } from './freezes.ts'
import { KnownFailures } from './known-failures.ts'
import { findCounts, findEnded, findFailed, findInstanceSlots, findRunning } from './overview.sql.ts'
import { queueReasons } from './queue.ts'
import { slotsOf } from './slots.ts'

/** More failures of a day are counted, but not explained: each needs a look at its first failed command. */
const MOST_FAILURES = 2_000
const MOST_INSTANCES = 1_000
const DAY_MS = 86_400_000

export function overviewHandlers({ database, keys }: Dependencies): HandlersOf<'getOverview' | 'getOverviewCounts'> {
  const known = new KnownFailures()
  return {
    getOverview: {
      async handle({ caller }) {
        const { at, ...overview } = await database.snapshot((tx) => readOverview({ db: tx, keys, known }, caller))
        const { failures } = overview
        const since = new Date(at.getTime() - DAY_MS).toISOString()
        return {
          status: 200,
          body: { at: at.toISOString(), ...overview, failures: { since, ...failures } },
          // The clock alone makes no new answer.
          same: {
            ...overview,
            queue: { ...overview.queue, first_estimated_start: minuteOf(overview.queue.first_estimated_start) },
          },
        }
      },
    },
    getOverviewCounts: {
      async handle({ caller }) {
        const { at, counts } = await readCountsAlone(database, caller)
        return { status: 200, body: { at: at.toISOString(), counts }, same: counts }
      },
    },
  }
}

/** An estimate moves with the clock. */
const minuteOf = (time: string | null) => time?.slice(0, 'yyyy-mm-ddThh:mm'.length)

const mayApprove = (caller: CallingUser) => may(caller, 'deployments:approve').allowed

/** One statement for callers who approve nothing. */
async function readCountsAlone(database: Database, caller: CallingUser) {
  const { tenant_id } = caller
  if (!mayApprove(caller)) return withCounts(await findCounts.one(database, { tenant_id }), 0)
  return database.snapshot((tx) => readCounts(tx, caller))
}

async function readCounts(tx: Queryable, caller: CallingUser) {
  const { tenant_id } = caller
  const [counts, to_approve] = await Promise.all([
    findCounts.one(tx, { tenant_id }),
    mayApprove(caller) ? countApprovable(tx, { tenant_id }, { user_id: caller.user_id, subject: caller }) : 0,
  ])
  return withCounts(counts, to_approve)
}

const withCounts = ({ at, running, pending, failed }: RowOf<typeof findCounts>, to_approve: number) => ({
  at,
  counts: { running, pending, to_approve, failed },
})

type Context = Pick<Dependencies, 'keys'> & { db: Queryable }
type Reading = Context & { known: KnownFailures }

/** A fixed number of statements, however much there is. The queue comes last, because its decisions look at all tenants. */
async function readOverview({ db, keys, known }: Reading, caller: CallingUser) {
  const { tenant_id } = caller
  const limits = OVERVIEW_LIMITS
  const [running, ended, failed, instances, freezes] = await Promise.all([
    findRunning.all(db, { tenant_id, most: limits.running }),
    findEnded.all(db, { tenant_id, most: limits.ended }),
    findFailed.all(db, { tenant_id, most: MOST_FAILURES }),
    may(caller, 'instances:read').allowed ? findInstanceSlots.all(db, { tenant_id, most: MOST_INSTANCES }) : null,
    may(caller, 'freezes:read').allowed ? readFreezes(db) : null,
  ])
  const viewer = pendingViewer(caller)
  const { at, counts } = await readCounts(db, caller)
  const ids = failed.map(({ id }) => id)
  const kinds = groupFailures(await known.explain(db, ids, at), limits.failures)
  const groups = await withDeployments({ db, keys }, viewer, kinds)
  const { first_estimated_start, waiting } = await readQueueNow(db, viewer)
  return {
    at,
    counts,
    running: running.map(({ item }) => item),
    ended: ended.map(({ item }) => item),
    failures: { total: counts.failed, groups },
    queue: {
      total: counts.pending,
      first_estimated_start: first_estimated_start?.toISOString() ?? null,
      reasons: queueReasons(waiting, limits.sources),
    },
    slots: instances && slotsOf(instances, limits.instances),
    freezes: freezes && freezesOf(freezes.freezes, freezes.now, limits.nextFreezes),
  }
}

/** The groups with the list items of their newest deployments, read in one statement. */
async function withDeployments(
  context: Context,
  viewer: ReturnType<typeof pendingViewer>,
  groups: readonly FailureGroup[],
) {
  const shown = groups.map((group) => ({ ...group, ids: group.ids.slice(0, OVERVIEW_LIMITS.deploymentsOfFailure) }))
  const ids = shown.flatMap((group) => group.ids)
  const items =
    ids.length === 0 ? new Map<string, object>() : await listItems({ ...context, viewer }, 'deployment', ids)
  return shown.map(({ fingerprint, summary, count, ids }) => ({
    fingerprint,
    summary,
    count,
    deployments: ids.flatMap((id) => items.get(id) ?? []),
  }))
}
