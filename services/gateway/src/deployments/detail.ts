import type { CommandBody } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { isUuid, mask, notFound, type PlanHead, resolvedVariables, type VariableValues } from '@slipway/domain'
import { isoTime, jsonObject, SUMMARY, SUMMARY_AS_STARTED, withProgress } from '@slipway/views'
import type { Piece } from '../http/pieces.ts'
import { ownSql, type Viewer } from '../tenancy/visibility.ts'
import { type FirstSteps, firstSteps, readSteps } from './steps.ts'

interface DetailRow {
  /** The summary, as JSON text. */
  summary: string
  plan_head: PlanHead
  selection: CommandBody<'deployment.start'>['selection']
  /** Null where the plan is not told. */
  steps: FirstSteps & { actions: { variables: VariableValues }[] }
  target_count: number
  error_message: string | null
  analysis_enabled: boolean
  source_deployment_id: string | null
  /** By whom, when and why it was cancelled, as JSON text. */
  cancellation: string
  created_at: Date
}

const CANCELLATION = jsonObject({
  cancelled_by: 'd.cancelled_by',
  cancelled_at: `CASE WHEN d.state = 'cancelled' THEN ${isoTime('d.completed_at')} END`,
  cancel_reason: 'd.cancel_reason',
})
const NOT_CANCELLED = jsonObject({ cancelled_by: 'NULL', cancelled_at: 'NULL', cancel_reason: 'NULL' })

export interface DetailOptions {
  /** `none` where the interface says that `plan` is null. */
  plan: 'full' | 'none'
  /** Tells the deployment as it was when it started. */
  asStarted?: boolean
  /** What the caller is warned of. */
  warnings?: readonly string[]
}

/**
 * The detail of a deployment as JSON text, in pieces: the steps of a large plan are more than one wants in memory.
 * @throws Problem NOT_FOUND when there is none that the viewer may see
 */
export async function readDetail(
  db: Queryable,
  viewer: Viewer,
  id: string,
  { plan, asStarted = false, warnings }: DetailOptions,
): Promise<AsyncIterable<Piece>> {
  const row = await findDetail(db, viewer, id, { plan, asStarted })
  const rest = {
    config: configOf(row),
    // What a create answers is told before anything could have failed.
    error_message: asStarted ? null : row.error_message,
    analysis_enabled: row.analysis_enabled,
    ...(row.source_deployment_id === null ? {} : { source_deployment_id: row.source_deployment_id }),
    ...(warnings === undefined ? {} : { warnings }),
  }
  const head = `${row.summary.slice(0, -1)},${row.cancellation.slice(1, -1)},${JSON.stringify(rest).slice(1, -1)},"plan":`
  return pieces(head, plan === 'full' ? planPieces(db, id, row, asStarted) : null)
}

async function* pieces(head: string, plan: AsyncIterable<Piece> | null): AsyncGenerator<Piece> {
  yield head
  if (plan === null) yield 'null'
  else yield* plan
  yield '}'
}

async function* planPieces(db: Queryable, id: string, row: DetailRow, asStarted: boolean): AsyncGenerator<Piece> {
  const { plan_head, steps, target_count, created_at } = row
  const rest = {
    target_count,
    resolved_variables: resolvedVariables({ ...plan_head, actions: steps.actions }),
    tenant_name: plan_head.tenant?.name ?? null,
    environment_name: plan_head.environment?.name ?? null,
    created_at: created_at.toISOString(),
  }
  yield `${JSON.stringify(rest).slice(0, -1)},"steps":[`
  yield* readSteps(db, { id, targetCount: target_count, asStarted, ...steps })
  yield ']}'
}

function configOf({
  plan_head: { options, override_variables, sensitive, tenant, environment },
  selection,
}: DetailRow) {
  const { target_mode, failure_strategy, rollback_strategy, priority, timeout_seconds, max_retries } = options
  return {
    ...{ target_mode, failure_strategy, rollback_strategy, priority, timeout_seconds, max_retries },
    target_ids: selection.target_ids,
    target_tags: selection.target_tags,
    variables: mask(override_variables, sensitive),
    tenant_id: tenant?.id ?? null,
    environment_id: environment?.id ?? null,
  }
}

async function findDetail(
  db: Queryable,
  viewer: Viewer,
  id: string,
  { plan, asStarted }: Required<Omit<DetailOptions, 'warnings'>>,
): Promise<DetailRow> {
  const { rows } = isUuid(id)
    ? await db.query<DetailRow>(
        `SELECT ${jsonObject(asStarted ? SUMMARY_AS_STARTED : SUMMARY)}::text AS summary,
           d.plan_head, d.selection, d.error_message, d.analysis_enabled, d.source_deployment_id, d.created_at,
           ${asStarted ? NOT_CANCELLED : CANCELLATION}::text AS cancellation,
           ${plan === 'full' ? firstSteps(asStarted) : 'NULL'} AS steps,
           (SELECT count(*)::int FROM deployment_targets t WHERE t.deployment_id = d.id) AS target_count
         FROM ${withProgress('deployments')}
         WHERE d.id = $2 AND ${ownSql('d', '$1')}`,
        [viewer.tenant_id, id],
      )
    : { rows: [] }
  const [row] = rows
  if (row === undefined) throw notFound('The deployment')
  return row
}
