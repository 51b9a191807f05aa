import type { Queryable, RowOf } from '@slipway/database'
import { planRollback, type ReleaseState, type RollbackPlan, validationProblem } from '@slipway/domain'
import type { Answer } from '@slipway/http'
import type { Call } from '../handler.ts'
import { idsFilter, sourceFilter, tagFilter } from '../records/filters.ts'
import { scopeFilter } from './filter.ts'
import { findHistories } from './rollback.sql.ts'

const MAX_TARGETS = 5_000

/** How far back the histories are read, and of how many targets at once. Few targets need more than their newest releases. */
const DEPTHS = [
  { releases: 8, targets: MAX_TARGETS },
  { releases: 100, targets: 500 },
  { releases: 2_000, targets: 25 },
] as const

const RUNNING: readonly ReleaseState[] = ['running', 'rolling_back']
const FAILED: readonly ReleaseState[] = ['failed', 'cancelled', 'rollback_failed']

type Filter = Omit<Parameters<typeof findHistories.all>[1], 'releases' | 'targets'>
type Found = RowOf<typeof findHistories>

/**
 * Answers which release a rollback of a source brings back on each target.
 * @throws Problem VALIDATION_ERROR for none or several sources, and for too many targets
 */
export async function getRollback(db: Queryable, call: Call<'getRollback'>): Promise<Answer> {
  const { query } = call
  const source = sourceFilter(query)
  if (source?.of_source_kind === null) {
    throw validationProblem([{ path: 'query', message: 'give solution_id, sequence_id or action_id' }])
  }
  const scope = scopeFilter(call)
  if (source === null || scope === null) return { status: 200, body: { groups: [], running: [] } }
  const { pattern: _, ...place } = scope
  const filter: Filter = {
    ...place,
    ...source,
    ...tagFilter(query.tag),
    among_ids: idsFilter(null, query.target_ids).among_ids,
    deployment_id: query.deployment_id ?? null,
  }
  const found = await findHistories.all(db, { ...filter, releases: DEPTHS[0].releases, targets: MAX_TARGETS + 1 })
  if (found.length > MAX_TARGETS) {
    const message = `more than ${MAX_TARGETS.toLocaleString('en')} targets have it: choose some by environment, tag or id`
    throw validationProblem([{ path: 'query', message }])
  }
  const running = found.flatMap(({ state, latest_deployment_id: deployment_id, target_id, target_name }) =>
    deployment_id !== null && RUNNING.includes(state) ? [{ deployment_id, target_id, target_name }] : [],
  )
  return { status: 200, body: { groups: await planFurther(db, filter, found), running } }
}

/** Reads further back where the newest releases do not tell. */
async function planFurther(db: Queryable, filter: Filter, newest: readonly Found[]): Promise<RollbackPlan['groups']> {
  const histories = new Map(newest.map((target) => [target.target_id, target]))
  const [first, ...further] = DEPTHS
  let plan = planOf(histories, first.releases)
  for (const { releases, targets } of further) {
    if (plan.open.length === 0) break
    for (let from = 0; from < plan.open.length; from += targets) {
      const among_ids = plan.open.slice(from, from + targets)
      for (const target of await findHistories.all(db, {
        ...filter,
        among_ids,

        releases,
        targets,
      })) {
        histories.set(target.target_id, target)
      }
    }
    plan = planOf(histories, releases)
  }
  // What is older still is left out, as after retention.
  return plan.open.length === 0 ? plan.groups : planOf(histories, Number.POSITIVE_INFINITY).groups
}

const planOf = (histories: ReadonlyMap<string, Found>, depth: number): RollbackPlan =>
  planRollback(
    [...histories.values()].map(({ target_id: id, target_name: name, history, deployment_id: inForce, state }) => ({
      ...{ id, name, history, inForce },
      isWhole: history.length < depth,
      hasFailed: FAILED.includes(state),
    })),
  )
