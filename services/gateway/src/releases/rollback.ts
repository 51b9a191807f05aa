import type { Queryable } from '@slipway/database'
import { planRollback, type ReleaseState, validationProblem } from '@slipway/domain'
import type { Answer } from '@slipway/http'
import type { Call } from '../handler.ts'
import { sourceFilter, tagFilter } from '../records/filters.ts'
import { scopeFilter } from './filter.ts'
import { findHistories } from './rollback.sql.ts'

const MAX_TARGETS = 5_000
/** A release before these is named by the one that replaced it. */
const MAX_RELEASES = 50

const RUNNING: readonly ReleaseState[] = ['running', 'rolling_back']
const FAILED: readonly ReleaseState[] = ['failed', 'cancelled', 'rollback_failed']

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
  const found = await findHistories.all(db, {
    ...place,
    ...source,
    ...tagFilter(query.tag),
    target_ids: query.target_ids?.split(',') ?? null,
    deployment_id: query.deployment_id ?? null,
    targets: MAX_TARGETS + 1,
    releases: MAX_RELEASES,
  })
  if (found.length > MAX_TARGETS) {
    const message = `more than ${MAX_TARGETS.toLocaleString('en')} targets have it: choose some by environment, tag or id`
    throw validationProblem([{ path: 'query', message }])
  }
  const isInForce = ({ history }: (typeof found)[number]) => history.some(({ is_current }) => is_current)
  const groups = planRollback(
    found.map((target) => ({
      id: target.target_id,
      name: target.target_name,
      history: target.history,
      hasFailed: isInForce(target) && FAILED.includes(target.state),
    })),
  )
  const running = found.flatMap(({ state, latest_deployment_id: deployment_id, target_id, target_name }) =>
    deployment_id !== null && RUNNING.includes(state) ? [{ deployment_id, target_id, target_name }] : [],
  )
  return { status: 200, body: { groups, running } }
}
