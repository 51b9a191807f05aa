import type { Queryable, RowOf } from '@slipway/database'
import type { Viewer } from '@slipway/database/read-models'
import { isUuid, mask, notFound, plannedVersions, resolvedVariables } from '@slipway/domain'
import { Batches } from '@slipway/http'
import { DETAIL, type Detail } from './detail.sql.ts'
import type { FirstSteps, Step } from './steps.sql.ts'
import { readSteps } from './steps.ts'

type PlanView = Omit<NonNullable<Detail['plan']>, 'steps'> & { steps: Batches<Step> }

/** A deployment with its steps in batches. */
type StreamedDetail = Omit<Detail, 'plan'> & { plan: PlanView | null }

type DetailRow = RowOf<typeof DETAIL.now.full>

interface DetailOptions {
  /** `none`: the field `plan` is null. */
  plan: 'full' | 'none'
  /** Reads the deployment as it was when it started. */
  asStarted?: boolean
}

/**
 * Reads the detail of a deployment. The steps of a large plan are read while the answer is sent.
 * @throws Problem NOT_FOUND
 */
export async function readDetail(
  db: Queryable,
  { tenant_id }: Viewer,
  id: string,
  { plan, asStarted = false }: DetailOptions,
): Promise<StreamedDetail> {
  const row = isUuid(id) ? await DETAIL[asStarted ? 'asStarted' : 'now'][plan].first(db, { id, tenant_id }) : null
  if (row === null) throw notFound('The deployment')
  return {
    ...row.summary,
    ...row.cancellation,
    config: configOf(row),
    // The answer of a create shows the deployment before any command ran.
    error_message: asStarted ? null : row.error_message,
    analysis_enabled: row.analysis_enabled,
    ...(row.source_deployment_id === null ? {} : { source_deployment_id: row.source_deployment_id }),
    approved_by: row.approved_by,
    plan: row.steps && planView(db, id, row, row.steps, asStarted),
  }
}

function planView(db: Queryable, id: string, row: DetailRow, steps: FirstSteps, asStarted: boolean): PlanView {
  const { plan_head, target_count, created_at } = row
  return {
    target_count,
    versions: plannedVersions({ source: plan_head.source, actions: steps.actions }),
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
  const { unchanged_target_ids } = selection
  const { target_mode, failure_strategy, rollback_strategy, priority, timeout_seconds, max_retries } = options
  return {
    target_mode,
    failure_strategy,
    rollback_strategy,
    priority,
    timeout_seconds,
    max_retries,
    target_ids: selection.target_ids,
    target_tags: selection.target_tags,
    variables: mask(override_variables, sensitive),
    tenant_id: tenant?.id ?? null,
    environment_id: environment?.id ?? null,
    ...(unchanged_target_ids === undefined ? {} : { unchanged_target_ids }),
  }
}
