import type { CommandBody, DeploymentDetail, Static } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { isUuid, mask, notFound, type PlanHead, resolvedVariables } from '@slipway/domain'
import { isoTime, jsonObject, SUMMARY, SUMMARY_AS_STARTED, withProgress } from '@slipway/views'
import { Batches } from '../http/json-stream.ts'
import { ownSql, type Viewer } from '../tenancy/visibility.ts'
import { type FirstSteps, firstSteps, readSteps, type Step } from './steps.ts'

type Detail = Static<typeof DeploymentDetail>
type Cancellation = Pick<Detail, 'cancelled_by' | 'cancelled_at' | 'cancel_reason'>
type OwnFields = 'config' | 'plan' | 'error_message' | 'analysis_enabled' | 'source_deployment_id'
type Summary = Omit<Detail, keyof Cancellation | OwnFields>
type PlanView = Omit<NonNullable<Detail['plan']>, 'steps'> & { steps: Batches<Step> }

/** A deployment with its steps in batches. */
export type StreamedDetail = Omit<Detail, 'plan'> & { plan: PlanView | null }

interface DetailRow {
  summary: Summary
  plan_head: PlanHead
  selection: CommandBody<'deployment.start'>['selection']
  /** Null where the plan is not told. */
  steps: FirstSteps | null
  target_count: number
  error_message: string | null
  analysis_enabled: boolean
  source_deployment_id: string | null
  cancellation: Cancellation
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
}

/**
 * The detail of a deployment. The steps of a large plan are read while the answer is sent.
 * @throws Problem NOT_FOUND when there is none that the viewer may see
 */
export async function readDetail(
  db: Queryable,
  viewer: Viewer,
  id: string,
  { plan, asStarted = false }: DetailOptions,
): Promise<StreamedDetail> {
  const row = await findDetail(db, viewer, id, { plan, asStarted })
  return {
    ...row.summary,
    ...row.cancellation,
    config: configOf(row),
    // What a create answers is told before anything could have failed.
    error_message: asStarted ? null : row.error_message,
    analysis_enabled: row.analysis_enabled,
    ...(row.source_deployment_id === null ? {} : { source_deployment_id: row.source_deployment_id }),
    plan: row.steps && planView(db, id, row, row.steps, asStarted),
  }
}

function planView(db: Queryable, id: string, row: DetailRow, steps: FirstSteps, asStarted: boolean): PlanView {
  const { plan_head, target_count, created_at } = row
  return {
    target_count,
    resolved_variables: resolvedVariables({ ...plan_head, actions: steps.actions }),
    tenant_name: plan_head.tenant?.name ?? null,
    environment_name: plan_head.environment?.name ?? null,
    created_at: created_at.toISOString(),
    steps: new Batches(readSteps(db, { id, targetCount: target_count, asStarted, ...steps })),
  }
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
  { plan, asStarted }: Required<DetailOptions>,
): Promise<DetailRow> {
  const { rows } = isUuid(id)
    ? await db.query<DetailRow>(
        `SELECT ${jsonObject(asStarted ? SUMMARY_AS_STARTED : SUMMARY)} AS summary,
           d.plan_head, d.selection, d.error_message, d.analysis_enabled, d.source_deployment_id, d.created_at,
           ${asStarted ? NOT_CANCELLED : CANCELLATION} AS cancellation,
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
