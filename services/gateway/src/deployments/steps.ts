import type { CommandReply, Static, Step as StepSchema } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { type PlannedActionRow, stepId } from '@slipway/domain'
import { isoTime, jsonObject, milliseconds, stepError } from '@slipway/views'

export type Step = Static<typeof StepSchema>
/** An action in its place. */
type Place = CommandReply<'plan.preview'>['plan']['actions'][number]

/** Steps of one query. */
const STEPS_READ_AT_ONCE = 5_000
/** Steps of one batch of an answer: some milliseconds of work, and all that a slow reader keeps in memory. */
const BATCH_STEPS = 1_000

type StepState = Omit<Step, keyof Place | 'id' | 'target_id' | 'target_name'>

/** A row of the plan: a target, and what has happened to its steps. */
export interface TargetRow {
  target_id: string
  target_name: string
  /** Of each action, null where nothing has happened; none where nothing has to any of them. */
  states?: (StepState | null)[] | null
}

const PENDING: StepState = {
  state: 'pending',
  started_at: null,
  completed_at: null,
  exit_code: null,
  error_message: null,
  retry_count: 0,
  duration_ms: null,
  end_confirmed: null,
}

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

// Most of a large plan is pending most of the time, and building that in SQL costs more than reading it.
const STATES = `(SELECT json_agg(CASE WHEN s.state <> 'pending' OR s.retry_count > 0 THEN ${STATE} END
                                 ORDER BY s.action_index)
                 FROM steps s WHERE s.deployment_id = t.deployment_id AND s.target_index = t.target_index)`
const statesOf = (asStarted: boolean) => (asStarted ? 'NULL' : STATES)

/** So many of a deployment's targets are read together with what else is told of it. */
const FIRST_TARGETS = 50

/** The actions of a deployment and its first targets: for most plans all there is to read. */
export interface FirstSteps {
  actions: PlannedActionRow[]
  targets: TargetRow[]
}

/** SQL: the FirstSteps of deployment `d`. */
export const firstSteps = (asStarted: boolean) => `json_build_object(
  'actions', (SELECT coalesce(json_agg(a ORDER BY a.action_index), '[]') FROM deployment_actions a WHERE a.deployment_id = d.id),
  'targets', (SELECT coalesce(json_agg(json_build_object('target_id', t.target_id, 'target_name', t.target_name,
                 'states', ${statesOf(asStarted)}) ORDER BY t.target_index), '[]')
                FROM deployment_targets t WHERE t.deployment_id = d.id AND t.target_index < ${FIRST_TARGETS}))`

export interface StepsOf extends FirstSteps {
  id: string
  targetCount: number
  asStarted: boolean
}

/** The steps of a deployment in plan order; some targets are read at a time. */
export async function* readSteps(
  db: Queryable,
  { id, targetCount, asStarted, actions, targets }: StepsOf,
): AsyncGenerator<Step[]> {
  yield* stepBatches(id, actions, targets)
  const targetsAtOnce = targetsOf(STEPS_READ_AT_ONCE, actions)
  for (let first = FIRST_TARGETS; first < targetCount; first += targetsAtOnce) {
    const { rows } = await db.query<TargetRow>(
      `SELECT t.target_id, t.target_name, ${statesOf(asStarted)} AS states
       FROM deployment_targets t
       WHERE t.deployment_id = $1 AND t.target_index >= $2 AND t.target_index < $3
       ORDER BY t.target_index`,
      [id, first, first + targetsAtOnce],
    )
    yield* stepBatches(id, actions, rows, first)
  }
}

/** How many targets have about so many steps. */
const targetsOf = (steps: number, actions: readonly Place[]) =>
  Math.max(1, Math.floor(steps / Math.max(1, actions.length)))

/** The steps of these targets, of which the first one has this index in the plan. */
export function* stepBatches(
  id: string,
  actions: readonly Place[],
  targets: readonly TargetRow[],
  first = 0,
): Generator<Step[]> {
  const atOnce = targetsOf(BATCH_STEPS, actions)
  for (let at = 0; at < targets.length; at += atOnce) {
    yield targets.slice(at, at + atOnce).flatMap((target, index) => stepsOf(id, actions, target, first + at + index))
  }
}

function stepsOf(
  deploymentId: string,
  actions: readonly Place[],
  { target_id, target_name, states }: TargetRow,
  targetIndex: number,
): Step[] {
  // One spread after plain fields: with two, an object takes V8 ten times as long.
  return actions.map((action, actionIndex) => ({
    id: stepId(deploymentId, targetIndex, actionIndex),
    target_id,
    target_name,
    sequence_id: action.sequence_id,
    sequence_name: action.sequence_name,
    sequence_order: action.sequence_order,
    action_id: action.action_id,
    action_name: action.action_name,
    action_order: action.action_order,
    ...(states?.[actionIndex] ?? PENDING),
  }))
}
