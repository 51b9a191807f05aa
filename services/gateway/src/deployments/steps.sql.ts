import type { CommandReply, Static, Step as StepSchema } from '@slipway/contracts'
import { int4, json, nullable, statement, text, uuid } from '@slipway/database'
import { isoTime, jsonObject, milliseconds, stepError } from '@slipway/database/read-models'
import type { PlannedActionRow } from '@slipway/domain'

export type Step = Static<typeof StepSchema>
export type PlacedAction = Required<CommandReply<'plan.preview'>['plan']['actions'][number]>
export type StepState = Omit<Step, keyof PlacedAction | 'id' | 'target_id' | 'target_name'>
/** One value per action, null if the step has not changed. */
type States = (StepState | null)[]

/** A target of the plan with the states of its steps; without states if no step has changed. */
export interface TargetRow {
  target_id: string
  target_name: string
  states?: States | null
}

/** The actions of a deployment and its first targets. For most plans these are all targets. */
export interface FirstSteps {
  actions: PlannedActionRow[]
  targets: TargetRow[]
}

/** How many targets are read together with the other fields of a deployment. */
export const FIRST_TARGETS = 50

const STATE = jsonObject({
  state: 's.state',
  started_at: isoTime('s.started_at'),
  completed_at: isoTime('s.completed_at'),
  exit_code: 's.exit_code',
  error_message: stepError('s'),
  retry_count: 's.retry_count',
  duration_ms: milliseconds('s.started_at', 's.completed_at'),
  end_confirmed: 's.end_confirmed',
})

// Most steps of a large plan are pending, and building them in SQL costs more than in the gateway.
const STATES = `(SELECT json_agg(CASE WHEN s.state <> 'pending' OR s.retry_count > 0 THEN ${STATE} END
                                 ORDER BY s.action_index)
                 FROM steps s WHERE s.deployment_id = t.deployment_id AND s.target_index = t.target_index)`
const NO_STATES = 'NULL::json'

const firstSteps = (states: string) => `json_build_object(
      'actions', (SELECT coalesce(json_agg(a ORDER BY a.action_index), '[]')
                    FROM deployment_actions a WHERE a.deployment_id = d.id),
      'targets', (SELECT coalesce(json_agg(json_build_object('target_id', t.target_id, 'target_name', t.target_name,
                     'states', ${states}) ORDER BY t.target_index), '[]')
                    FROM deployment_targets t WHERE t.deployment_id = d.id AND t.target_index < ${FIRST_TARGETS}))`

/** The FirstSteps of the deployment `d`, as it is, as it started, or without a plan. */
export const FIRST_STEPS = { now: firstSteps(STATES), asStarted: firstSteps(NO_STATES), none: 'NULL::json' }

const targets = (name: string, states: string) =>
  statement({
    name,
    parameters: { id: uuid, first: int4, end: int4 },
    row: { target_id: uuid, target_name: text, states: nullable(json<States>()) },
    sql: `SELECT t.target_id, t.target_name, ${states} AS states
      FROM deployment_targets t
     WHERE t.deployment_id = :id AND t.target_index >= :first AND t.target_index < :end
     ORDER BY t.target_index`,
  })

export const findTargets = targets('gateway.deployments.find-targets', STATES)
export const findTargetsAsStarted = targets('gateway.deployments.find-targets-as-started', NO_STATES)
