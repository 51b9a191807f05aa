import type { CommandBody, DeploymentDetail, Static } from '@slipway/contracts'
import { bool, int8, json, jsonb, nullable, statement, text, timestamptz, uuid } from '@slipway/database'
import { isoTime, jsonObject, ownSql, SUMMARY, SUMMARY_AS_STARTED, withProgress } from '@slipway/database/read-models'
import type { PlanHead } from '@slipway/domain'
import { FIRST_STEPS, type FirstSteps } from './steps.sql.ts'

export type Detail = Static<typeof DeploymentDetail>
type Cancellation = Pick<Detail, 'cancelled_by' | 'cancelled_at' | 'cancel_reason'>
type OwnFields = 'approved_by' | 'config' | 'plan' | 'error_message' | 'analysis_enabled' | 'source_deployment_id'
type Summary = Omit<Detail, keyof Cancellation | OwnFields>

const CANCELLATION = jsonObject({
  cancelled_by: 'd.cancelled_by',
  cancelled_at: `CASE WHEN d.state = 'cancelled' THEN ${isoTime('d.completed_at')} END`,
  cancel_reason: 'd.cancel_reason',
})
const NOT_CANCELLED = jsonObject({ cancelled_by: 'NULL', cancelled_at: 'NULL', cancel_reason: 'NULL' })

/** `steps` is null if the answer has no plan. */
const detail = (name: string, summary: Record<string, string>, cancellation: string, steps: string) =>
  statement({
    name: `gateway.deployments.find-detail-${name}`,
    parameters: { id: uuid, tenant_id: nullable(uuid) },
    row: {
      summary: json<Summary>(),
      plan_head: jsonb<PlanHead>(),
      selection: jsonb<CommandBody<'deployment.start'>['selection']>(),
      error_message: nullable(text),
      analysis_enabled: bool,
      source_deployment_id: nullable(uuid),
      approved_by: jsonb<Detail['approved_by']>(),
      created_at: timestamptz,
      cancellation: json<Cancellation>(),
      steps: nullable(json<FirstSteps>()),
      target_count: int8,
    },
    sql: `SELECT ${jsonObject(summary)} AS summary,
       d.plan_head, d.selection, d.error_message, d.analysis_enabled, d.source_deployment_id, d.approved_by, d.created_at,
       ${cancellation} AS cancellation, ${steps} AS steps,
       (SELECT count(*) FROM deployment_targets t WHERE t.deployment_id = d.id) AS target_count
      FROM ${withProgress('deployments')} WHERE d.id = :id AND ${ownSql('d')}`,
  })

/** One statement for each form of the answer: the present state or the state at the start, with or without the plan. */
export const DETAIL = {
  now: {
    full: detail('now', SUMMARY, CANCELLATION, FIRST_STEPS.now),
    none: detail('now-without-plan', SUMMARY, CANCELLATION, FIRST_STEPS.none),
  },
  asStarted: {
    full: detail('as-started', SUMMARY_AS_STARTED, NOT_CANCELLED, FIRST_STEPS.asStarted),
    none: detail('as-started-without-plan', SUMMARY_AS_STARTED, NOT_CANCELLED, FIRST_STEPS.none),
  },
}
